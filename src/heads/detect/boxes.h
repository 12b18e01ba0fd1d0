// Boxes as float tensors [N, 4] of corners (x0, y0, x1, y1) in pixels, x1 and y1 exclusive.
#pragma once

#include <array>
#include <cstdint>

#include "nn/types.h"

namespace addp {

Tensor box_area(const Tensor& boxes);              // [N]
Tensor box_iou(const Tensor& a, const Tensor& b);  // [N, M]
// Corners moved into the picture.
Tensor clip_boxes(const Tensor& boxes, std::int64_t height, std::int64_t width);
// Indices of the boxes whose two sides are at least `min_side` long.
Tensor boxes_of_size(const Tensor& boxes, double min_side);

// The regression targets of Faster R-CNN (Ren et al. 2015, equation 2): offsets of the centre
// relative to the anchor's size and logarithms of the size ratios, each multiplied by its weight.
struct BoxCoder {
  std::array<double, 4> weights = {1, 1, 1, 1};  // dx, dy, dw, dh
  // exp(dw) is kept from growing a box beyond this many times, so that an early
  // network cannot overflow.
  double max_ratio = 1000.0 / 16.0;

  Tensor encode(const Tensor& boxes, const Tensor& anchors) const;  // [N, 4]
  // `deltas` [N, 4 * C] gives [N, C, 4], C boxes (classes) for each anchor.
  Tensor decode(const Tensor& deltas, const Tensor& anchors) const;
};

}  // namespace addp
