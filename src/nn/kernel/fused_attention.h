// Self-attention of all heads in one pass over their projections, with its gradient: what torch
// composes of two products, a softmax and copies into and out of rows of heads.
#pragma once

#include "nn/kernel/dropout.h"
#include "nn/types.h"

namespace addp {

// Whether mix_heads can compute this: float32 or bfloat16 on a CPU.
bool can_mix_heads(const Tensor& projected);

// [B, N, 3 * D], queries, keys and values of all heads behind each other as one product gives
// them, -> [B, N, D]: softmax(q k^T / sqrt(D / heads)) v. `rate` is that of dropout on the weights.
Tensor mix_heads(const Tensor& projected, std::int64_t heads, double rate, DropoutKeys* keys);

}  // namespace addp
