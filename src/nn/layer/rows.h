// Some positions of a batch of sequences. Of a network's last block often only a few are wanted:
// the masked ones, say, where a token is predicted.
#pragma once

#include "nn/types.h"

namespace addp {

// flags [B, L] -> [B, M], the positions of each sample that are set, ascending. A UsageError where
// the samples have different numbers of them.
Tensor positions_of(const Tensor& flags);

// x [B, N, D], positions [B, M] -> [B, M, D]; undefined positions: all of x.
Tensor pick_rows(const Tensor& x, const Tensor& positions);

// x [B, N, D] with rows [B, M, D] at the positions [B, M].
Tensor put_rows(const Tensor& x, const Tensor& positions, const Tensor& rows);

}  // namespace addp
