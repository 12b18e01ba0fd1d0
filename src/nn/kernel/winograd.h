// 3x3 convolutions in float32 that take 4/9 of the products (Winograd), with gradients that do. The
// processor's libraries compute them the plain way.
#pragma once

#include "nn/types.h"

namespace addp {

// Whether a convolution of stride 1 and padding 1 is faster this way: 3x3 weights and a product in
// float32 on a processor that our kernels know, with channels and pixels enough to be worth it.
bool suits_winograd(const Tensor& x, const Tensor& weight);

// The bias may be undefined.
Tensor winograd_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias);

}  // namespace addp
