// The loss of ADDP: cross-entropy at the unreliable positions, beside
// Algorithm 1 (diffusion/algorithm1.h).
#pragma once

#include "diffusion/addp.h"

namespace addp {

// decoded [B, U, D'] from Addp::decode; predicted [B, U, K] from the token predictor (undefined for
// Target::kTruth). The mean over the unreliable positions of the whole batch.
Tensor addp_loss(const Addp& addp, const Tensor& decoded, const ReliableTokens& reliable,
                 const Tensor& predicted, Target target, double label_smoothing);

// The least that addp_loss() can be with these targets: their own entropy.
Tensor addp_loss_floor(const Addp& addp, const ReliableTokens& reliable, const Tensor& predicted,
                       Target target, double label_smoothing);

}  // namespace addp
