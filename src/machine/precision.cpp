#include "machine/precision.h"

#include <ATen/autocast_mode.h>

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include <cstdlib>
#include <string_view>

#include "base/log.h"
#include "machine/machine.h"

namespace addp {
namespace {

thread_local bool follow_reference = false;

}  // namespace

Bf16Scope::Bf16Scope(bool enabled) : device_(compute_device().type()), enabled_(enabled) {
  if (!enabled_) return;
  was_enabled_ = at::autocast::is_autocast_enabled(device_);
  was_type_ = at::autocast::get_autocast_dtype(device_);
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::set_autocast_dtype(device_, torch::kBFloat16);
  at::autocast::increment_nesting();
}

Bf16Scope::~Bf16Scope() {
  if (!enabled_) return;
  // The cache holds bfloat16 copies of weights, which an optimizer step outdates.
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, was_enabled_);
  at::autocast::set_autocast_dtype(device_, was_type_);
}

torch::ScalarType product_type(const torch::Tensor& x) {
  const torch::DeviceType device = x.device().type();
  return at::autocast::is_autocast_enabled(device) ? at::autocast::get_autocast_dtype(device)
                                                   : x.scalar_type();
}

bool has_bf16_instructions() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16");
#elif defined(__aarch64__) && defined(__linux__)
  return (getauxval(AT_HWCAP2) & HWCAP2_BF16) != 0;
#else
  return false;
#endif
}

bool bf16_here(Precision wanted) {
  if (wanted == Precision::kFloat32) return false;
  const torch::Device device = compute_device();
  const bool fast = device.is_cpu() ? has_bf16_instructions() : device.is_cuda();
  if (wanted == Precision::kAuto) return fast;
  if (fast || !device.is_cpu()) return true;
  const char* insisted = std::getenv("ADDP_BF16");
  if (insisted != nullptr && std::string_view(insisted) == "always") return true;
  note(
      "this processor has no instructions for bfloat16 and would be many times slower with it: "
      "float32 is used (ADDP_BF16=always insists)");
  return false;
}

ReferenceArithmetic::ReferenceArithmetic() : before_(follow_reference) { follow_reference = true; }
ReferenceArithmetic::~ReferenceArithmetic() { follow_reference = before_; }

bool reference_arithmetic() { return follow_reference; }

}  // namespace addp
