// Pixels as tensors: tokenizers take and give [0, 1]; image encoders take them less ImageNet's
// mean, over its standard deviation.
#pragma once

#include "nn/types.h"

namespace addp {

inline constexpr float kImageNetMean[3] = {0.485F, 0.456F, 0.406F};
inline constexpr float kImageNetDeviation[3] = {0.229F, 0.224F, 0.225F};

Tensor normalise_pixels(const Tensor& pixels);    // [B, 3, H, W] in [0, 1]
Tensor denormalise_pixels(const Tensor& pixels);  // and back

}  // namespace addp
