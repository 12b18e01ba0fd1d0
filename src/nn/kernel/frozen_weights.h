// Products and convolutions with weights that stay as they are. Where no gradient is asked for,
// weights are cast and laid out as oneDNN's kernels read them once in a scope, not in every call,
// and bias and GELU are part of the product, not passes of their own: of the time of fast sampling
// at the published size a twentieth in bfloat16 and an eighth in float32, more where cores are
// shared.
#pragma once

#include "nn/types.h"

namespace addp {

// While one of these lives, on its thread, nobody writes to the weights of the networks that run.
// Where they lend their memory, those that are of the type that is computed with are empty
// meanwhile: no other thread may read them. Else weights and what is made of them are both there.
class FrozenWeights {
 public:
  explicit FrozenWeights(bool lend = false);  // inside another one: as that one
  ~FrozenWeights();                           // the outermost one forgets what was laid out
  FrozenWeights(const FrozenWeights&) = delete;
  FrozenWeights& operator=(const FrozenWeights&) = delete;
};

// Where weights lend their memory on this thread and products of `x` are in float32, what is free
// goes back to the system. For those who need much at once, or other sizes in every step: holes of
// one size are none for the next. In bfloat16 it is half as much, and not worth the time.
void spare_memory(const Tensor& x);

// Each is torch's operation, or the same with laid-out weights. Weight and bias are tensors that
// live as long as the network (not views made for the call); the bias may be undefined.
Tensor linear_product(const Tensor& x, const Tensor& weight, const Tensor& bias);
Tensor linear_product_gelu(const Tensor& x, const Tensor& weight, const Tensor& bias);
Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, std::int64_t stride,
                   std::int64_t padding);

// A 3x3 convolution of the doubled picture, as one transposed convolution of stride 2 with 4x4
// weights: 4/9 of the work, and the doubled picture never exists.
Tensor doubling_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias);

}  // namespace addp
