// Cross-entropy against soft targets, with label smoothing (Szegedy et al. 2016).
#pragma once

#include "nn/types.h"

namespace addp {

// What each row of logits should be: `probabilities` over the first K classes (each row sums to 1),
// or one `label` per row, or `label_share` of the label and the rest of the probabilities.
struct SoftTarget {
  Tensor probabilities{};  // [N, K], K at most the number of classes; undefined: labels alone
  Tensor labels{};         // [N] int64; undefined: probabilities alone
  double label_share = 0;  // read when both are given
};

// The mean over the rows of  -sum_v t_v log softmax(logits)_v  with  t = (1 - s) target + s / V.
// logits [N, V], float32 or bfloat16 -> a scalar.
Tensor smoothed_cross_entropy(const Tensor& logits, const SoftTarget& target, double smoothing);
// The least it can be for any logits over `classes`: the entropy of the smoothed target.
Tensor lowest_cross_entropy(const SoftTarget& target, std::int64_t classes, double smoothing);

}  // namespace addp
