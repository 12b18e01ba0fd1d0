// The figures by which generators are compared, from features of the FID network.
#pragma once

#include <cstdint>

#include "nn/types.h"

namespace addp {

// Mean and covariance of a stream of feature vectors, in float64; memory does not grow
// with the stream.
class FeatureStatistics {
 public:
  FeatureStatistics() = default;
  FeatureStatistics(Tensor mean, Tensor covariance, std::int64_t count);

  void add(const Tensor& features);  // [N, D]
  void add(const FeatureStatistics& other);

  std::int64_t count() const { return count_; }  // 0 where a file did not say
  std::int64_t dimension() const { return sum_.defined() ? sum_.size(0) : 0; }
  Tensor mean() const;        // [D]
  Tensor covariance() const;  // [D, D], unbiased (N - 1)

 private:
  void require(std::int64_t count) const;
  void check_growth() const;

  std::int64_t count_ = 0;
  // Sums are taken around the first batch's mean, so that nothing is lost to cancellation.
  Tensor origin_, sum_, products_;
};

// |m1 - m2|^2 + tr(S1 + S2 - 2 (S1 S2)^(1/2))   (Heusel et al. 2017)
double frechet_distance(const FeatureStatistics& a, const FeatureStatistics& b);
// The same of the features themselves, [N, D] and [M, D]: much faster where one of them has fewer
// rows than columns.
double frechet_distance(const Tensor& a, const Tensor& b);

struct MeanDeviation {
  double mean = 0, deviation = 0;
};

// exp(E KL(p(y|x) || p(y))) over `splits` consecutive parts (Salimans et al. 2016);
// `logits` [N, classes].
inline constexpr std::int64_t kInceptionScoreSplits = 10;
MeanDeviation inception_score(const Tensor& logits, std::int64_t splits = kInceptionScoreSplits);

// Share of the generated pictures that lie within the reference's manifold and the other way
// round, a manifold being the balls around each feature out to its k-th neighbour (Kynkaanniemi
// et al. 2019).
struct PrecisionRecall {
  double precision = 0, recall = 0;
};
PrecisionRecall precision_recall(const Tensor& reference, const Tensor& generated,
                                 std::int64_t neighbours = 3);

// The unbiased squared maximum mean discrepancy with the kernel (x.y / D + 1)^3 (Binkowski
// et al. 2018).
double kernel_distance(const Tensor& a, const Tensor& b);

}  // namespace addp
