// Attention over a grid of positions, for dense prediction: in windows that attend apart, and with
// decomposed relative position embeddings (Li et al., "Exploring plain vision transformer backbones
// for object detection", 2022).
#pragma once

#include "nn/types.h"

namespace addp {

struct GridAttention {
  Grid grid{};              // of the positions, by rows, without a class position
  std::int64_t window = 0;  // side of the windows; 0: the whole grid is one
  // [2 * side - 1, D / heads], one row for each distance; undefined: no relative positions. Tables
  // of another length are resized to the window at hand.
  Tensor rows{}, columns{};

  Grid cell() const { return window > 0 ? Grid{window, window} : grid; }
};

// [B, h * w, D] -> [B * windows, cell.area(), D]. Where the grid is no multiple of the window,
// zeros fill it up.
Tensor into_windows(const Tensor& x, const GridAttention& where);
Tensor out_of_windows(const Tensor& windows, const GridAttention& where);

// What is added to the scores before the softmax: q [B, heads, N, D / heads], not yet scaled, gives
// [B, heads, N, N] with q . (rows[y - y'] + columns[x - x']).
Tensor relative_scores(const Tensor& q, const GridAttention& where);

}  // namespace addp
