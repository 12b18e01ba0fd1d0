// Rows of normal numbers for tests of metrics.
#pragma once

#include "base/random.h"
#include "nn/torch.h"
#include "nn/types.h"

namespace addp::testing {

inline Tensor normal_rows(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  const auto out = torch::empty({rows, columns});
  RandomStream(seed, "test").fill_normal({out.data_ptr<float>(), std::size_t(out.numel())});
  return out;
}

}  // namespace addp::testing
