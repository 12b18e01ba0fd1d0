// Anchors, and which of them (or of the proposals) belong to which annotated box.
#pragma once

#include <vector>

#include "base/random.h"
#include "nn/types.h"

namespace addp {

// Boxes [h * w * ratios, 4] centred on the cells of a grid, by rows; all of area side^2, `ratios`
// are height / width.
Tensor grid_anchors(const Grid& grid, std::int64_t stride, double side,
                    const std::vector<double>& ratios);

inline constexpr std::int64_t kBackground = -1, kBetween = -2;

// For each candidate the number of the box it belongs to, kBackground or kBetween (neither).
struct MatchOptions {
  double low = 0.3, high = 0.7;  // IoU below: background; from `high` on: the box
  // A box's best candidates belong to it, however small their IoU (above 0) is.
  bool keep_best = true;
};
Tensor match_boxes(const Tensor& candidates, const Tensor& boxes, const MatchOptions& options);

// Indices of candidates to learn from: at most `count`, at most `positive_share` of it belonging to
// boxes (these first), the rest background. Drawn from the stream.
struct MatchSample {
  Tensor positives, negatives;  // [P], [N] int64
};
MatchSample sample_matches(const Tensor& matches, std::int64_t count, double positive_share,
                           RandomStream stream);

}  // namespace addp
