// Names shared by all networks.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace addp {

using Tensor = torch::Tensor;

// Tokens, patches or cells in rows and columns.
struct Grid {
  std::int64_t height = 16;
  std::int64_t width = 16;

  std::int64_t area() const { return height * width; }
  bool operator==(const Grid&) const = default;
};

}  // namespace addp
