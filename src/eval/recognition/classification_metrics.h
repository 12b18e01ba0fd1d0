// Top-1 and top-5 accuracy, streaming.
#pragma once

#include <cstdint>
#include <vector>

#include "nn/types.h"

namespace addp {

// For each row of `logits` [B, C], how many other classes are at least as likely as the
// true one [B]: 0 is a hit. Ties and NaNs count against the network, so that a constant
// output scores nothing.
Tensor rank_of_label(const Tensor& logits, const Tensor& labels);

// Columns of a class subset [B, |subset|], in its order: for sets such as ImageNet-A and -R that
// ask about some of the classes only. An index outside is a UsageError.
Tensor restrict_classes(const Tensor& logits, const std::vector<std::int64_t>& subset);

class Accuracy {
 public:
  // [B, C], [B]; a label outside 0..C-1 is a DataError.
  void add(const Tensor& logits, const Tensor& labels);
  void add(const Accuracy& other);
  // Pictures, top-1 and top-5 hits as [3] doubles, and back: what processes add up.
  Tensor counts() const;
  static Accuracy from_counts(const Tensor& counts);

  std::int64_t count() const { return count_; }
  double top1() const { return share(top1_); }
  double top5() const { return share(top5_); }

 private:
  double share(std::int64_t hits) const { return count_ == 0 ? 0 : double(hits) / double(count_); }

  std::int64_t count_ = 0, top1_ = 0, top5_ = 0;
};

}  // namespace addp
