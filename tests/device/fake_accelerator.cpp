#include "device/fake_accelerator.h"

#include <ATen/EmptyTensor.h>
#include <ATen/detail/HPUHooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <atomic>

#include "machine/machine.h"
#include "nn/torch.h"

namespace addp::testing {
namespace {

using at::Tensor;

std::atomic<std::int64_t> operation_count = 0;

class FakeAllocator : public at::Allocator {
 public:
  at::DataPtr allocate(std::size_t bytes) override {
    at::DataPtr memory = c10::GetCPUAllocator()->allocate(bytes);
    memory.unsafe_set_device(FakeAccelerator::device());
    return memory;
  }
  at::DeleterFnPtr raw_deleter() const override { return c10::GetCPUAllocator()->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

FakeAllocator allocator;
const c10::AllocatorRegisterer<c10::kHPU> allocator_registered(&allocator);

// One device, whose work is always done.
struct FakeGuard : c10::impl::NoOpDeviceGuardImpl<c10::kHPU> {
  c10::Device exchangeDevice(c10::Device) const override { return FakeAccelerator::device(); }
  c10::Device getDevice() const override { return FakeAccelerator::device(); }
  c10::Stream getStream(c10::Device device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  void record(void** event, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {
    *event = nullptr;
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
};
C10_REGISTER_GUARD_IMPL(HPU, FakeGuard);

// libtorch looks for it by this name.
struct HPUHooks : at::HPUHooksInterface {
  explicit HPUHooks(at::HPUHooksArgs) {}
  void init() const override {}
  bool hasHPU() const override { return true; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
};
using at::HPUHooksRegistry;
using at::RegistererHPUHooksRegistry;
REGISTER_HPU_HOOKS(HPUHooks);

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::HPU);

Tensor empty(c10::IntArrayRef size, std::optional<at::ScalarType> type, std::optional<at::Layout>,
             std::optional<at::Device>, std::optional<bool>,
             std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(size, &allocator, kKeys, c10::dtype_or_default(type), format);
}

Tensor empty_strided(c10::IntArrayRef size, c10::IntArrayRef stride,
                     std::optional<at::ScalarType> type, std::optional<at::Layout>,
                     std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(size, stride, &allocator, kKeys,
                                           c10::dtype_or_default(type));
}

// The same memory, seen as the CPU's.
Tensor as_cpu(const Tensor& tensor) {
  if (tensor.is_cpu()) return tensor;
  return at::from_blob(
      tensor.data_ptr(), tensor.sizes(), tensor.strides(), [tensor](void*) {},
      at::TensorOptions(tensor.scalar_type()));
}

Tensor copy_from(const Tensor& from, const Tensor& to, bool) {
  as_cpu(to).copy_(as_cpu(from));
  return to;
}

const Tensor& set_size(const Tensor& tensor, c10::IntArrayRef size,
                       std::optional<at::MemoryFormat>) {
  const Tensor grown = at::empty(size, tensor.options());
  tensor.unsafeGetTensorImpl()->set_storage_keep_dtype(grown.storage());
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(grown.sizes(), grown.strides());
  return tensor;
}

Tensor copy_from_and_resize(const Tensor& from, const Tensor& to) {
  if (to.sizes() != from.sizes()) set_size(to, from.sizes(), {});
  return copy_from(from, to, false);
}

at::Scalar scalar_of(const Tensor& tensor) { return as_cpu(tensor).item(); }

Tensor convolution(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
                   c10::IntArrayRef stride, c10::IntArrayRef padding, c10::IntArrayRef dilation,
                   bool transposed, c10::IntArrayRef output_padding, std::int64_t groups) {
  TORCH_CHECK(!x.is_cpu() && !weight.is_cpu(), "convolution of tensors on two devices");
  const auto on_cpu = bias && bias->defined() ? std::optional(as_cpu(*bias)) : std::nullopt;
  return at::convolution(as_cpu(x), as_cpu(weight), on_cpu, stride, padding, dilation, transposed,
                         output_padding, groups)
      .to(FakeAccelerator::device());
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(
    const Tensor& outer, const Tensor& x, const Tensor& weight, c10::IntArrayRef stride,
    c10::IntArrayRef padding, c10::IntArrayRef dilation, bool transposed,
    c10::IntArrayRef output_padding, std::int64_t groups, std::array<bool, 3> wanted) {
  const auto [a, b, c] = at::convolution_backward(
      as_cpu(outer), as_cpu(x), as_cpu(weight), c10::IntArrayRef({weight.size(0)}), stride, padding,
      dilation, transposed, output_padding, groups, wanted);
  const auto back = [](const Tensor& t) {
    return t.defined() ? t.to(FakeAccelerator::device()) : t;
  };
  return {back(a), back(b), back(c)};
}

// A CPU tensor beside one of the device: allowed only where it is a number, or an index.
void check_devices(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const std::string name = op.operator_name().name;
  const bool indexes = name == "aten::index" || name == "aten::index_put_" ||
                       name == "aten::_index_put_impl_";  // these take indices of the CPU
  const auto check = [&](const Tensor& tensor) {
    TORCH_CHECK(!tensor.defined() || tensor.dim() == 0 || !tensor.is_cpu(), name,
                ": a tensor of the CPU beside one of the accelerator");
  };
  const std::size_t count = op.schema().arguments().size();
  for (std::size_t i = stack.size() - count; i < stack.size(); ++i) {
    if (stack[i].isTensor()) check(stack[i].toTensor());
    if (stack[i].isTensorList() && !indexes) {
      for (const Tensor& tensor : stack[i].toTensorVector()) check(tensor);
    }
  }
}

void on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  ++operation_count;
  check_devices(op, *stack);
  at::native::cpu_fallback(op, stack);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, HPU, library) {
  library.impl("empty.memory_format", empty);
  library.impl("empty_strided", empty_strided);
  library.impl("_copy_from", copy_from);
  library.impl("_copy_from_and_resize", copy_from_and_resize);
  library.impl("resize_", set_size);
  library.impl("_local_scalar_dense", scalar_of);
  library.impl("as_strided", at::native::as_strided_tensorimpl);
  library.impl("view", at::native::view);
  library.impl("_reshape_alias", at::native::_reshape_alias);
  library.impl("convolution_overrideable", convolution);
  library.impl("convolution_backward_overrideable", convolution_backward);
}

TORCH_LIBRARY_IMPL(_, HPU, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
}

FakeAccelerator::FakeAccelerator() { set_compute_device(device()); }
FakeAccelerator::~FakeAccelerator() { set_compute_device(torch::kCPU); }
std::int64_t FakeAccelerator::operations() { return operation_count; }

}  // namespace addp::testing
