#include "nn/layer/grid_attention.h"

#include "nn/torch.h"

namespace addp {
namespace {

std::int64_t windows_along(std::int64_t length, std::int64_t window) {
  return (length + window - 1) / window;
}

// The embedding of every pair of places along one side: [side, side, D].
Tensor table_of_pairs(Tensor table, std::int64_t side) {
  const std::int64_t length = 2 * side - 1;
  if (table.size(0) != length) {
    table = at::upsample_linear1d(table.t().unsqueeze(0), {length}, /*align_corners=*/false)
                .squeeze(0)
                .t();
  }
  const Tensor places = torch::arange(side, table.options().dtype(torch::kLong));
  const Tensor distance = places.unsqueeze(1) - places.unsqueeze(0) + (side - 1);
  return table.index_select(0, distance.flatten()).view({side, side, table.size(1)});
}

}  // namespace

Tensor into_windows(const Tensor& x, const GridAttention& where) {
  if (where.window == 0) return x;
  const std::int64_t w = where.window, batch = x.size(0), width = x.size(2);
  const std::int64_t down = windows_along(where.grid.height, w),
                     across = windows_along(where.grid.width, w);
  Tensor map = x.reshape({batch, where.grid.height, where.grid.width, width});
  if (down * w != where.grid.height || across * w != where.grid.width) {
    map = at::constant_pad_nd(
        map, {0, 0, 0, across * w - where.grid.width, 0, down * w - where.grid.height});
  }
  return map.view({batch, down, w, across, w, width})
      .transpose(2, 3)
      .reshape({batch * down * across, w * w, width});
}

Tensor out_of_windows(const Tensor& windows, const GridAttention& where) {
  if (where.window == 0) return windows;
  const std::int64_t w = where.window, width = windows.size(2);
  const std::int64_t down = windows_along(where.grid.height, w),
                     across = windows_along(where.grid.width, w);
  return windows.view({-1, down, across, w, w, width})
      .transpose(2, 3)
      .reshape({-1, down * w, across * w, width})
      .slice(1, 0, where.grid.height)
      .slice(2, 0, where.grid.width)
      .reshape({-1, where.grid.area(), width});
}

Tensor relative_scores(const Tensor& q, const GridAttention& where) {
  const Grid cell = where.cell();
  const std::int64_t batch = q.size(0), heads = q.size(1), width = q.size(3);
  const Tensor places = q.reshape({batch * heads, cell.height, cell.width, width});
  const Tensor rows = table_of_pairs(where.rows, cell.height).to(q.scalar_type());
  const Tensor columns = table_of_pairs(where.columns, cell.width).to(q.scalar_type());
  const Tensor by_row = at::matmul(places, rows.transpose(1, 2));  // [B * heads, h, w, h']
  const Tensor by_column = at::matmul(places.transpose(1, 2), columns.transpose(1, 2))
                               .transpose(1, 2);  // [B * heads, h, w, w']
  return (by_row.unsqueeze(4) + by_column.unsqueeze(3))
      .reshape({batch, heads, cell.area(), cell.area()});
}

}  // namespace addp
