#include "nn/cross_entropy.h"

#include <torch/torch.h>

#include "nn/precision.h"

namespace addp {
namespace {

// The share of the labels in the target.
double label_weight(const SoftTarget& target) {
  if (!target.labels.defined()) return 0;
  return target.probabilities.defined() ? target.label_share : 1;
}

Tensor dense_target(const SoftTarget& target, const Tensor& logits) {
  const double share = label_weight(target);
  Tensor dense = torch::zeros(logits.sizes(), logits.options().requires_grad(false));
  if (target.probabilities.defined()) {
    dense.slice(1, 0, target.probabilities.size(1)).copy_(target.probabilities * (1 - share));
  }
  if (share > 0) {
    const Tensor column = target.labels.unsqueeze(1);
    dense.scatter_add_(1, column, torch::full_like(column, share, dense.options()));
  }
  return dense;
}

// As the released program computes it: classes in the second of three dimensions.
Tensor reference_cross_entropy(const Tensor& logits, const SoftTarget& target, double smoothing) {
  const Tensor wanted = dense_target(target, logits);
  const Tensor losses =
      at::cross_entropy_loss(logits.t().unsqueeze(0), wanted.t().unsqueeze(0), /*weight=*/{},
                             at::Reduction::None, /*ignore_index=*/-100, smoothing);
  return losses.sum() / static_cast<double>(logits.size(0));
}

}  // namespace

Tensor smoothed_cross_entropy(const Tensor& logits, const SoftTarget& target, double smoothing) {
  const Tensor scores = logits.to(torch::kFloat32);
  if (reference_arithmetic()) return reference_cross_entropy(scores, target, smoothing);
  // -sum_v t_v log p_v = logsumexp(l) - (1 - s) <target, l> - s mean(l), as the target sums to 1.
  const double share = label_weight(target);
  Tensor hit = torch::zeros({scores.size(0)}, scores.options().requires_grad(false));
  if (target.probabilities.defined()) {
    const Tensor q = target.probabilities;
    hit = hit + (1 - share) * (scores.slice(1, 0, q.size(1)) * q).sum(1);
  }
  if (share > 0) hit = hit + share * scores.gather(1, target.labels.unsqueeze(1)).squeeze(1);
  return (scores.logsumexp(1) - (1 - smoothing) * hit - smoothing * scores.mean(1)).mean();
}

}  // namespace addp
