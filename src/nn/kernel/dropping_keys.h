// The dropout of a fused operation: drawn in its forward pass, remembered for its backward pass.
#pragma once

#include <torch/csrc/autograd/custom_function.h>

#include <bit>

#include "nn/kernel/dropout.h"
#include "nn/kernel/simd/dropping.h"

namespace addp {

inline Dropping next_dropping(double rate, DropoutKeys* keys, std::int64_t elements) {
  if (keys == nullptr || rate <= 0) return {};
  return {.key = keys->next_key(), .rate = rate, .position = keys->position_of(elements)};
}

inline void remember(torch::autograd::AutogradContext* context, const Dropping& dropping) {
  context->saved_data["key"] = std::bit_cast<std::int64_t>(dropping.key);
  context->saved_data["rate"] = dropping.rate;
  context->saved_data["position"] = dropping.position;
}

inline Dropping remembered(torch::autograd::AutogradContext* context) {
  return {.key = std::bit_cast<std::uint64_t>(context->saved_data["key"].toInt()),
          .rate = context->saved_data["rate"].toDouble(),
          .position = context->saved_data["position"].toInt()};
}

}  // namespace addp
