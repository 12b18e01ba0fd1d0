// Which arithmetic the networks use on this thread, chosen for a scope.
#pragma once

#include <torch/types.h>

#include "machine/compute_options.h"

namespace addp {

// bfloat16 for the products and convolutions of a scope (autocast of compute_device());
// weights stay float32. Made with `enabled` false it does nothing, so that a flag can be
// passed straight in.
class Bf16Scope {
 public:
  explicit Bf16Scope(bool enabled);
  ~Bf16Scope();
  Bf16Scope(const Bf16Scope&) = delete;
  Bf16Scope& operator=(const Bf16Scope&) = delete;

 private:
  torch::DeviceType device_;
  bool enabled_, was_enabled_ = false;
  torch::ScalarType was_type_ = torch::kBFloat16;
};

// The type in which a product of `x` is computed here: bfloat16 in a Bf16Scope, else x's own.
torch::ScalarType product_type(const torch::Tensor& x);

// Instructions for products in bfloat16 (AVX512-BF16, ARM's BF16); elsewhere torch emulates them.
bool has_bf16_instructions();

// Whether what is wanted means bfloat16 on compute_device(). Processors without instructions for it
// (AVX512-BF16, AMX) emulate it, which was measured to take ten to twenty times as long as float32:
// there the answer is no, and a note says so where bfloat16 was asked for by name. The variable
// ADDP_BF16=always insists. Of other devices, kAuto means bfloat16 on CUDA's.
bool bf16_here(Precision wanted);

// In a scope of this the networks round as the released program does: attention as two
// explicit products, nearest upsampling before its convolution, and cross-entropy accumulated
// along a strided class dimension. The results differ from the fast paths only by rounding:
// about 1e-6, but up to 1e-4 of a gradient, because the strided accumulation sums 2025 small
// terms one after another.
class ReferenceArithmetic {
 public:
  ReferenceArithmetic();
  ~ReferenceArithmetic();
  ReferenceArithmetic(const ReferenceArithmetic&) = delete;
  ReferenceArithmetic& operator=(const ReferenceArithmetic&) = delete;

 private:
  bool before_;
};

bool reference_arithmetic();

}  // namespace addp
