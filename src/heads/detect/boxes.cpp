#include "heads/detect/boxes.h"

#include <fmt/ranges.h>

#include <cmath>

#include "base/error.h"
#include "nn/torch.h"

namespace addp {
namespace {

void check_boxes(const Tensor& boxes, const char* what) {
  if (boxes.dim() != 2 || boxes.size(1) != 4) {
    throw UsageError("{} have shape {}, but boxes are [N, 4]", what, fmt::join(boxes.sizes(), "x"));
  }
}

struct Centres {
  Tensor x, y, width, height;
};

Centres centres_of(const Tensor& boxes) {
  const auto width = boxes.select(1, 2) - boxes.select(1, 0);
  const auto height = boxes.select(1, 3) - boxes.select(1, 1);
  return {boxes.select(1, 0) + 0.5 * width, boxes.select(1, 1) + 0.5 * height, width, height};
}

}  // namespace

Tensor box_area(const Tensor& boxes) {
  check_boxes(boxes, "boxes");
  return (boxes.select(1, 2) - boxes.select(1, 0)) * (boxes.select(1, 3) - boxes.select(1, 1));
}

Tensor box_iou(const Tensor& a, const Tensor& b) {
  check_boxes(a, "the first boxes");
  check_boxes(b, "the second boxes");
  const auto first = a.unsqueeze(1);
  const auto low = torch::max(first.slice(2, 0, 2), b.slice(1, 0, 2));
  const auto high = torch::min(first.slice(2, 2, 4), b.slice(1, 2, 4));
  const auto overlap = (high - low).clamp_min(0).prod(2);  // [N, M]
  const auto together = box_area(a).unsqueeze(1) + box_area(b) - overlap;
  // Two empty boxes share nothing; 0/0 must not become a NaN that every comparison then drops.
  return torch::where(together > 0, overlap / together, torch::zeros_like(overlap));
}

Tensor clip_boxes(const Tensor& boxes, std::int64_t height, std::int64_t width) {
  check_boxes(boxes, "boxes");
  const auto x = boxes.slice(1, 0, 4, 2).clamp(0, width);
  const auto y = boxes.slice(1, 1, 4, 2).clamp(0, height);
  return torch::stack({x, y}, 2).flatten(1);
}

Tensor boxes_of_size(const Tensor& boxes, double min_side) {
  check_boxes(boxes, "boxes");
  const auto sides = boxes.slice(1, 2, 4) - boxes.slice(1, 0, 2);
  return torch::nonzero((sides >= min_side).all(1)).squeeze(1);
}

Tensor BoxCoder::encode(const Tensor& boxes, const Tensor& anchors) const {
  check_boxes(boxes, "boxes");
  check_boxes(anchors, "anchors");
  const Centres target = centres_of(boxes), anchor = centres_of(anchors);
  return torch::stack({weights[0] * (target.x - anchor.x) / anchor.width,
                       weights[1] * (target.y - anchor.y) / anchor.height,
                       weights[2] * torch::log(target.width / anchor.width),
                       weights[3] * torch::log(target.height / anchor.height)},
                      1);
}

Tensor BoxCoder::decode(const Tensor& deltas, const Tensor& anchors) const {
  check_boxes(anchors, "anchors");
  if (deltas.dim() != 2 || deltas.size(0) != anchors.size(0) || deltas.size(1) % 4 != 0) {
    throw UsageError("box deltas have shape {}, but {} anchors need [{}, 4 * classes]",
                     fmt::join(deltas.sizes(), "x"), anchors.size(0), anchors.size(0));
  }
  const Centres anchor = centres_of(anchors);
  const auto d = deltas.view({deltas.size(0), -1, 4});  // [N, C, 4]
  const auto x = d.select(2, 0) / weights[0] * anchor.width.unsqueeze(1) + anchor.x.unsqueeze(1);
  const auto y = d.select(2, 1) / weights[1] * anchor.height.unsqueeze(1) + anchor.y.unsqueeze(1);
  const double limit = std::log(max_ratio);
  const auto half_width =
      0.5 * torch::exp((d.select(2, 2) / weights[2]).clamp_max(limit)) * anchor.width.unsqueeze(1);
  const auto half_height =
      0.5 * torch::exp((d.select(2, 3) / weights[3]).clamp_max(limit)) * anchor.height.unsqueeze(1);
  return torch::stack({x - half_width, y - half_height, x + half_width, y + half_height}, 2);
}

}  // namespace addp
