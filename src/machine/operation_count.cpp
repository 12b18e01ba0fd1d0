#include "machine/operation_count.h"

#include <ATen/record_function.h>

#include <string_view>

#include "nn/torch.h"
#include "nn/types.h"

namespace addp {
namespace {

struct Counts {
  double products = 0, convolutions = 0;
};
thread_local Counts counts;

double size_of(const c10::IValue& tensor, std::int64_t dim) {
  return static_cast<double>(tensor.toTensor().size(dim));
}

// Every weight meets every position of the result.
double convolution_work(c10::ArrayRef<const c10::IValue> inputs) {
  const Tensor x = inputs[0].toTensor(), weight = inputs[1].toTensor();
  const auto stride = inputs[3].toIntVector(), padding = inputs[4].toIntVector();
  const bool transposed = inputs[6].toBool();
  double positions = static_cast<double>(x.size(0));
  for (std::int64_t dim = 2; dim < x.dim(); ++dim) {
    const auto axis = static_cast<std::size_t>(dim - 2);
    const std::int64_t step = stride[axis % stride.size()], pad = padding[axis % padding.size()];
    positions *= static_cast<double>(
        transposed ? x.size(dim) : (x.size(dim) + 2 * pad - weight.size(dim)) / step + 1);
  }
  return 2 * positions * static_cast<double>(weight.numel());
}

std::unique_ptr<at::ObserverContext> observe(const at::RecordFunction& call) {
  const std::string_view name = call.name();
  const auto inputs = call.inputs();
  const auto product = [&](std::size_t left, std::size_t right) {
    const Tensor a = inputs[left].toTensor();
    return 2 * static_cast<double>(a.numel()) * size_of(inputs[right], -1);
  };
  if (name == "aten::mm" || name == "aten::bmm") {
    counts.products += product(0, 1);
  } else if (name == "aten::addmm" || name == "aten::baddbmm") {
    counts.products += product(1, 2);
  } else if (name.starts_with("aten::_scaled_dot_product_") && !name.ends_with("_math")) {
    const auto query = static_cast<double>(inputs[0].toTensor().numel());
    counts.products += 4 * query * size_of(inputs[1], 2);  // scores, and their sums of values
  } else if (name == "aten::convolution") {
    counts.convolutions += convolution_work(inputs);
  }
  return nullptr;
}

}  // namespace

OperationCount::OperationCount()
    : callback_(
          at::addThreadLocalCallback(at::RecordFunctionCallback(observe).needsInputs(true).scopes(
              {at::RecordScope::FUNCTION}))) {
  counts = {};
}

OperationCount::~OperationCount() { at::removeCallback(callback_); }

double OperationCount::products() const { return counts.products; }
double OperationCount::convolutions() const { return counts.convolutions; }

}  // namespace addp
