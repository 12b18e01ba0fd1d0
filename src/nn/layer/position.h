// Learned position embeddings, one row for the class position and one for each cell of a grid.
#pragma once

#include "nn/types.h"

namespace addp {

// [1, 1 + from.area(), D] -> [1, 1 + to.area(), D]: the class row stays, the grid is resized
// bicubically (coefficient -0.75, pixel centres aligned), as torch does for images.
Tensor resize_positions(const Tensor& positions, const Grid& from, const Grid& to);

}  // namespace addp
