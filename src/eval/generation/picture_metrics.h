// How near a reconstruction is to its original, picture by picture.
#pragma once

#include "nn/types.h"

namespace addp {

// Both take batches [B, C, H, W], uint8 or floating point in [0, 1], and give float64 [B].

// Peak signal-to-noise ratio in dB; infinite for equal pictures.
Tensor psnr(const Tensor& a, const Tensor& b);
inline constexpr int kSsimWindow = 11;
// Structural similarity (Wang et al. 2004): 11x11 Gaussian window of deviation 1.5, K = (0.01,
// 0.03), windows inside the picture only, mean over windows and channels. Sides are at least 11.
Tensor ssim(const Tensor& a, const Tensor& b);

}  // namespace addp
