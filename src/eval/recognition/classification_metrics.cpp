#include "eval/recognition/classification_metrics.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "nn/torch.h"

namespace addp {

Tensor rank_of_label(const Tensor& logits, const Tensor& labels) {
  if (logits.dim() != 2 || labels.dim() != 1 || labels.size(0) != logits.size(0)) {
    throw UsageError("logits of shape {} and labels of shape {} do not belong together",
                     fmt::join(logits.sizes(), "x"), fmt::join(labels.sizes(), "x"));
  }
  const auto ids = labels.to(logits.device(), torch::kLong);
  if (ids.numel() > 0) {
    const auto low = ids.min().item<std::int64_t>(), high = ids.max().item<std::int64_t>();
    if (low < 0 || high >= logits.size(1)) {
      throw DataError("a picture has class number {}, but the network knows {} classes",
                      low < 0 ? low : high, logits.size(1));
    }
  }
  const auto own = logits.gather(1, ids.unsqueeze(1));
  // The label itself is never below its own logit, hence the 1.
  return torch::logical_not(logits < own).sum(1) - 1;
}

Tensor restrict_classes(const Tensor& logits, const std::vector<std::int64_t>& subset) {
  for (const std::int64_t index : subset) {
    if (index < 0 || index >= logits.size(1)) {
      throw UsageError("the class subset names class {}, but the network knows {}", index,
                       logits.size(1));
    }
  }
  return logits.index_select(1, torch::tensor(subset, torch::kLong).to(logits.device()));
}

void Accuracy::add(const Tensor& logits, const Tensor& labels) {
  const auto rank = rank_of_label(logits, labels);
  count_ += rank.size(0);
  top1_ += (rank < 1).sum().item<std::int64_t>();
  top5_ += (rank < 5).sum().item<std::int64_t>();
}

void Accuracy::add(const Accuracy& other) {
  count_ += other.count_;
  top1_ += other.top1_;
  top5_ += other.top5_;
}

Tensor Accuracy::counts() const { return torch::tensor({count_, top1_, top5_}, torch::kFloat64); }

Accuracy Accuracy::from_counts(const Tensor& counts) {
  Accuracy accuracy;
  accuracy.count_ = counts[0].item<std::int64_t>();
  accuracy.top1_ = counts[1].item<std::int64_t>();
  accuracy.top5_ = counts[2].item<std::int64_t>();
  return accuracy;
}

}  // namespace addp
