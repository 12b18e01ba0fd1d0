// Pixels as tensors: tokenizers take and give [0, 1]; image encoders take them less ImageNet's
// mean, over its standard deviation.
#pragma once

#include "nn/types.h"

namespace addp {

Tensor normalise_pixels(const Tensor& pixels);    // [B, 3, H, W] in [0, 1]
Tensor denormalise_pixels(const Tensor& pixels);  // and back

}  // namespace addp
