// LPIPS with weights by a formula, for tests that need no published file.
#pragma once

#include "support/torch_fixtures.h"

namespace addp::testing {

inline TensorMap small_lpips(bool negative_bias = false) {
  TensorMap weights;
  const std::int64_t sizes[5][4] = {
      {0, 64, 3, 11}, {3, 192, 64, 5}, {6, 384, 192, 3}, {8, 256, 384, 3}, {10, 256, 256, 3}};
  for (int i = 0; i < 5; ++i) {
    const auto [layer, out, in, kernel] = sizes[i];
    const std::string key = "features." + std::to_string(layer);
    weights[key + ".weight"] =
        to_view(formula_weight(key + ".weight", i, {out, in, kernel, kernel}));
    weights[key + ".bias"] = to_view(torch::full({out}, negative_bias ? -100.0F : 0.1F));
    weights["lin" + std::to_string(i) + ".weight"] = to_view(torch::full({1, out, 1, 1}, 0.1F));
  }
  return weights;
}

}  // namespace addp::testing
