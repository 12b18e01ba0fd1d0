#include "nn/layer/rows.h"

#include "base/error.h"
#include "nn/torch.h"

namespace addp {
namespace {

Tensor for_every_column(const Tensor& positions, std::int64_t columns) {
  return positions.unsqueeze(2).expand({-1, -1, columns});
}

}  // namespace

Tensor positions_of(const Tensor& flags) {
  const std::int64_t batch = flags.size(0);
  const Tensor found = flags.nonzero();  // [sum of M, 2], by samples
  if (found.size(0) % batch != 0 ||
      !found.select(1, 0).equal(
          torch::arange(batch, found.options()).repeat_interleave(found.size(0) / batch))) {
    throw UsageError("the samples of a batch must have the same number of masked tokens");
  }
  return found.select(1, 1).reshape({batch, -1});
}

Tensor pick_rows(const Tensor& x, const Tensor& positions) {
  return positions.defined() ? x.gather(1, for_every_column(positions, x.size(2))) : x;
}

Tensor put_rows(const Tensor& x, const Tensor& positions, const Tensor& rows) {
  return x.scatter(1, for_every_column(positions, x.size(2)), rows);
}

}  // namespace addp
