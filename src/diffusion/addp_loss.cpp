#include "diffusion/addp_loss.h"

#include "nn/cross_entropy.h"
#include "nn/torch.h"

namespace addp {
namespace {

// [B, L, D] at the chosen of its B * L rows
Tensor rows_at(const Tensor& x, const Tensor& chosen) {
  return x.reshape({-1, x.size(2)}).index_select(0, chosen);
}

}  // namespace

Tensor addp_loss(const Addp& addp, const Tensor& decoded, const ReliableTokens& reliable,
                 const Tensor& predicted, Target target, double label_smoothing) {
  const std::int64_t length = reliable.tokens.size(1);
  // The head over the vocabulary is a large part of the work, so it sees masked positions only.
  const Tensor chosen = reliable.masked.flatten().nonzero().squeeze(1);                 // [N]
  const Tensor logits = addp.logits(rows_at(decoded.slice(1, 1, 1 + length), chosen));  // [N, V]
  SoftTarget wanted{.label_share = 0.5};  // read for kBoth: the paper gives no weights
  if (target != Target::kTruth) wanted.probabilities = rows_at(predicted, chosen);
  if (target != Target::kPredictor) {
    wanted.labels = reliable.tokens.flatten().index_select(0, chosen);
  }
  return smoothed_cross_entropy(logits, wanted, label_smoothing);
}

}  // namespace addp
