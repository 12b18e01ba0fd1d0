#include "heads/detect/anchors.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "heads/detect/boxes.h"
#include "machine/parallel.h"
#include "nn/torch.h"

namespace addp {
namespace {

Tensor choose(const Tensor& indices, std::int64_t count, RandomStream stream) {
  if (indices.size(0) <= count) return indices;
  auto order = stream.permutation(indices.size(0));
  order.resize(static_cast<std::size_t>(count));
  return indices.index_select(0, torch::tensor(order, torch::kLong).to(indices.device()));
}

// Corners and areas of boxes, one row of numbers each, as loops over them want to read.
struct BoxRows {
  explicit BoxRows(const Tensor& boxes)
      : corners(boxes.to(torch::kFloat).t().contiguous()), area(box_area(boxes).contiguous()) {
    for (int i = 0; i < 4; ++i) corner[i] = corners.const_data_ptr<float>() + i * boxes.size(0);
    areas = area.const_data_ptr<float>();
  }
  Tensor corners, area;
  const float* corner[4];
  const float* areas;
};

// box_iou of box g with candidate n, operation by operation.
inline float iou_of(const BoxRows& boxes, std::int64_t g, const BoxRows& candidates,
                    std::int64_t n) {
  const float width = std::min(boxes.corner[2][g], candidates.corner[2][n]) -
                      std::max(boxes.corner[0][g], candidates.corner[0][n]);
  const float height = std::min(boxes.corner[3][g], candidates.corner[3][n]) -
                       std::max(boxes.corner[1][g], candidates.corner[1][n]);
  const float overlap = std::max(width, 0.0F) * std::max(height, 0.0F);
  const float together = boxes.areas[g] + candidates.areas[n] - overlap;
  return together > 0 ? overlap / together : 0.0F;
}

// The owners and best IoUs of candidates, and which are some box's best, without the matrix of all
// pairs: anchors of a large picture are hundreds of thousands.
struct BestPairs {
  Tensor best, owner, chosen;
};
BestPairs best_pairs(const Tensor& candidates, const Tensor& boxes, bool keep_best) {
  const BoxRows rows(candidates), things(boxes);
  const std::int64_t count = candidates.size(0), things_count = boxes.size(0);
  BestPairs out{torch::zeros({count}), torch::zeros({count}, torch::kLong),
                torch::zeros({count}, torch::kBool)};
  float* best = out.best.data_ptr<float>();
  std::int64_t* owner = out.owner.data_ptr<std::int64_t>();
  bool* chosen = out.chosen.data_ptr<bool>();
  std::vector<float> highest(static_cast<std::size_t>(things_count), 0.0F);
  std::mutex meeting;
  constexpr std::int64_t kGrain = 4096;
  for_parts(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> seen(highest.size(), 0.0F);
    for (std::int64_t g = 0; g < things_count; ++g) {
      float most = 0;
      for (std::int64_t n = begin; n < end; ++n) {
        const float iou = iou_of(things, g, rows, n);
        most = std::max(most, iou);
        if (iou > best[n]) {
          best[n] = iou;
          owner[n] = g;
        }
      }
      seen[static_cast<std::size_t>(g)] = most;
    }
    const std::lock_guard lock(meeting);
    for (std::size_t g = 0; g < seen.size(); ++g) highest[g] = std::max(highest[g], seen[g]);
  });
  if (!keep_best) return out;
  for_parts(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t g = 0; g < things_count; ++g) {
      const float most = highest[static_cast<std::size_t>(g)];
      if (most <= 0) continue;
      for (std::int64_t n = begin; n < end; ++n) chosen[n] |= iou_of(things, g, rows, n) == most;
    }
  });
  return out;
}

}  // namespace

Tensor grid_anchors(const Grid& grid, std::int64_t stride, double side,
                    const std::vector<double>& ratios) {
  std::vector<float> halves;
  for (const double ratio : ratios) {
    const auto half_width = static_cast<float>(side / std::sqrt(ratio) / 2),
               half_height = static_cast<float>(side * std::sqrt(ratio) / 2);
    halves.insert(halves.end(), {-half_width, -half_height, half_width, half_height});
  }
  const Tensor shapes = torch::tensor(halves).view({1, 1, -1, 4});
  const double step = static_cast<double>(stride);
  const Tensor y = ((torch::arange(grid.height, torch::kFloat) + 0.5) * step)
                       .view({-1, 1, 1})
                       .expand({grid.height, grid.width, 1});
  const Tensor x = ((torch::arange(grid.width, torch::kFloat) + 0.5) * step)
                       .view({1, -1, 1})
                       .expand({grid.height, grid.width, 1});
  return (torch::stack({x, y, x, y}, 3) + shapes).reshape({-1, 4});
}

Tensor match_boxes(const Tensor& candidates, const Tensor& boxes, const MatchOptions& options) {
  if (boxes.size(0) == 0) {
    return torch::full({candidates.size(0)}, kBackground, candidates.options().dtype(torch::kLong));
  }
  // On a processor whatever the device is: of a hundred thousand anchors a few megabytes travel.
  const BestPairs pairs = best_pairs(candidates.cpu(), boxes.cpu(), options.keep_best);
  Tensor matches = pairs.owner.clone();
  matches.masked_fill_(pairs.best < options.high, kBetween);
  matches.masked_fill_(pairs.best < options.low, kBackground);
  return torch::where(pairs.chosen, pairs.owner, matches).to(candidates.device());
}

MatchSample sample_matches(const Tensor& matches, std::int64_t count, double positive_share,
                           RandomStream stream) {
  const auto most = static_cast<std::int64_t>(static_cast<double>(count) * positive_share);
  MatchSample sample;
  sample.positives =
      choose(torch::nonzero(matches >= 0).squeeze(1), most, stream.fork("positives"));
  sample.negatives = choose(torch::nonzero(matches == kBackground).squeeze(1),
                            count - sample.positives.size(0), stream.fork("negatives"));
  return sample;
}

}  // namespace addp
