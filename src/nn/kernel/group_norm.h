// Group normalisation (Wu & He 2018) followed by swish, in one pass over the pictures.
//
// Written by hand because torch's group norm of channels-last pictures sums squares in float over a
// whole channel: for 256x256 pictures that is 1e-3 off, and the nearest code changes. It also reads
// and writes the picture once where norm and swish take two, and keeps little but its input for
// the backward pass. float32 or bfloat16; sums and the arithmetic are float32 and float64.
#pragma once

#include "nn/types.h"

namespace addp {

// x [B, C, H, W] -> the same shape, channels last.
Tensor group_norm_swish(const Tensor& x, std::int64_t groups, const Tensor& weight,
                        const Tensor& bias, double eps);

}  // namespace addp
