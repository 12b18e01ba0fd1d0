// Nearest neighbours as a measure of features that needs no training (Wu et al. 2018).
#pragma once

#include "nn/types.h"

namespace addp {

struct KnnOptions {
  std::int64_t neighbours = 20;
  double temperature = 0.07;  // a neighbour's vote weighs exp(cosine / temperature)
};

// Scores of the classes [M, classes] for `queries` [M, D] from the votes of the nearest rows of
// `bank` [N, D] with `labels` [N].
Tensor knn_scores(const Tensor& bank, const Tensor& labels, const Tensor& queries,
                  std::int64_t classes, const KnnOptions& options = {});

}  // namespace addp
