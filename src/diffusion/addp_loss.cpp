#include "diffusion/addp_loss.h"

#include "nn/kernel/cross_entropy.h"
#include "nn/torch.h"

namespace addp {
namespace {

// [B, L, D] at the chosen of its B * L rows
Tensor rows_at(const Tensor& x, const Tensor& chosen) {
  return x.reshape({-1, x.size(2)}).index_select(0, chosen);
}

Tensor unreliable_places(const ReliableTokens& reliable) {
  return reliable.masked.flatten().nonzero().squeeze(1);  // [N]
}

SoftTarget target_at(const Tensor& chosen, const ReliableTokens& reliable, const Tensor& predicted,
                     Target target) {
  SoftTarget wanted{.label_share = 0.5};  // read for kBoth: the paper gives no weights
  if (target != Target::kTruth) wanted.probabilities = rows_at(predicted, chosen);
  if (target != Target::kPredictor) {
    wanted.labels = reliable.tokens.flatten().index_select(0, chosen);
  }
  return wanted;
}

}  // namespace

Tensor addp_loss(const Addp& addp, const Tensor& decoded, const ReliableTokens& reliable,
                 const Tensor& predicted, Target target, double label_smoothing) {
  const std::int64_t length = reliable.tokens.size(1);
  // The head over the vocabulary is a large part of the work, so it sees masked positions only.
  const Tensor chosen = unreliable_places(reliable);
  const Tensor logits = addp.logits(rows_at(decoded.slice(1, 1, 1 + length), chosen));  // [N, V]
  return smoothed_cross_entropy(logits, target_at(chosen, reliable, predicted, target),
                                label_smoothing);
}

Tensor addp_loss_floor(const Addp& addp, const ReliableTokens& reliable, const Tensor& predicted,
                       Target target, double label_smoothing) {
  return lowest_cross_entropy(target_at(unreliable_places(reliable), reliable, predicted, target),
                              addp.config().vocabulary.size(), label_smoothing);
}

}  // namespace addp
