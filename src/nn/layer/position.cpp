#include "nn/layer/position.h"

#include "nn/torch.h"

namespace addp {

Tensor resize_positions(const Tensor& positions, const Grid& from, const Grid& to) {
  if (from == to) return positions;
  const std::int64_t width = positions.size(-1);
  const Tensor rows = positions.view({1, -1, width});
  const Tensor grid = rows.slice(1, 1)
                          .view({1, from.height, from.width, width})
                          .permute({0, 3, 1, 2});  // [1, D, h, w]
  const Tensor resized =
      at::upsample_bicubic2d(grid, {to.height, to.width}, /*align_corners=*/false)
          .permute({0, 2, 3, 1})
          .reshape({1, to.area(), width});
  return at::cat({rows.slice(1, 0, 1), resized}, 1);
}

}  // namespace addp
