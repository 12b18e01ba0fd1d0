#include "heads/detect/anchors.h"

#include <cmath>

#include "heads/detect/boxes.h"
#include "nn/torch.h"

namespace addp {
namespace {

Tensor choose(const Tensor& indices, std::int64_t count, RandomStream stream) {
  if (indices.size(0) <= count) return indices;
  auto order = stream.permutation(indices.size(0));
  order.resize(static_cast<std::size_t>(count));
  return indices.index_select(0, torch::tensor(order, torch::kLong).to(indices.device()));
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
  const Tensor iou = box_iou(boxes, candidates);  // [G, N]
  const auto [best, owner] = iou.max(0);
  Tensor matches = owner.clone();
  matches.masked_fill_(best < options.high, kBetween);
  matches.masked_fill_(best < options.low, kBackground);
  if (options.keep_best) {
    const Tensor highest = std::get<0>(iou.max(1, /*keepdim=*/true));  // [G, 1]
    const Tensor chosen = ((iou == highest) & (highest > 0)).any(0);
    matches = torch::where(chosen, owner, matches);
  }
  return matches;
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
