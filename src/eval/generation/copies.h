// Does a generator repeat its training pictures? How near generated pictures come to the nearest
// training picture, beside how near pictures come that were held out.
#pragma once

#include "nn/types.h"

namespace addp {

struct Nearest {
  Tensor distance;  // [M]
  Tensor index;     // [M] int64, into the bank
};

// The nearest row of `bank` [N, D] for each of `queries` [M, D], by Euclidean distance.
Nearest nearest_rows(const Tensor& bank, const Tensor& queries);

// Pictures [B, 3, S, S] as points for nearest_rows: small, so that a shift of a pixel or a grain of
// noise does not hide a copy; and features, by direction alone.
Tensor thumbnail_rows(const Tensor& pixels);
Tensor direction_rows(const Tensor& features);

struct CopyFigures {
  double generated = 0;  // median distance of a generated picture to its nearest training picture
  double held_out = 0;   // the same of a held-out picture
  double generated_error = 0, held_out_error = 0;  // their standard errors
  // Share of generated pictures that are nearer than the nearest 5% of the held-out ones are. A
  // generator that repeats nothing has about 0.05 or less.
  double near = 0;
};

CopyFigures compare_distances(const Tensor& generated, const Tensor& held_out);

}  // namespace addp
