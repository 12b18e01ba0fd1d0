#include "diffusion/addp_loss.h"

#include "nn/kernel/cross_entropy.h"
#include "nn/torch.h"

namespace addp {
namespace {

SoftTarget target_of(const ReliableTokens& reliable, const Tensor& predicted, Target target) {
  SoftTarget wanted{.label_share = 0.5};  // read for kBoth: the paper gives no weights
  if (target != Target::kTruth) wanted.probabilities = predicted.flatten(0, 1);
  if (target != Target::kPredictor) wanted.labels = reliable.tokens.masked_select(reliable.masked);
  return wanted;
}

}  // namespace

Tensor addp_loss(const Addp& addp, const Tensor& decoded, const ReliableTokens& reliable,
                 const Tensor& predicted, Target target, double label_smoothing) {
  return smoothed_cross_entropy(addp.logits(decoded.flatten(0, 1)),  // [B * U, V]
                                target_of(reliable, predicted, target), label_smoothing);
}

Tensor addp_loss_floor(const Addp& addp, const ReliableTokens& reliable, const Tensor& predicted,
                       Target target, double label_smoothing) {
  return lowest_cross_entropy(target_of(reliable, predicted, target),
                              addp.config().vocabulary.size(), label_smoothing);
}

}  // namespace addp
