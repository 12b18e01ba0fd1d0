// What training relies on: every trained parameter gets a gradient, and it is the loss's slope.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nn/torch.h"

namespace addp::testing {

// Heads on maps drop the class position, and with it what only that position learns.
inline constexpr const char* kDroppedOnMaps = "maps.encoder.cls_token";

// After backward(): defined, finite and not zero, but for the parameter that is known to be unused.
inline void expect_gradients(const torch::nn::Module& network, const std::string& unused = "") {
  for (const auto& item : network.named_parameters()) {
    if (!item.value().requires_grad()) continue;
    const torch::Tensor& gradient = item.value().grad();
    ASSERT_TRUE(gradient.defined()) << item.key();
    EXPECT_TRUE(gradient.isfinite().all().item<bool>()) << item.key();
    EXPECT_EQ(gradient.abs().max().item<double>() > 0, item.key() != unused) << item.key();
  }
}

// The same, and the gradients against finite differences of `loss`: every parameter moves along its
// own gradient by the same way, by which the loss must change by the sum of the gradients' norms.
template <class Loss>
void expect_slope(torch::nn::Module& network, const Loss& loss, const std::string& unused = "") {
  network.zero_grad();
  const torch::Tensor value = loss();
  value.backward();
  expect_gradients(network, unused);
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> parameters, directions;
  double slope = 0;
  for (const torch::Tensor& parameter : network.parameters()) {
    const double norm = parameter.grad().norm().item<double>();
    if (norm == 0) continue;
    slope += norm;
    parameters.push_back(parameter);
    directions.push_back(parameter.grad() / norm);
  }
  const auto move = [&](double way) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      parameters[i].add_(directions[i], way);
    }
    return loss().template item<double>();
  };
  const double way = 0.005 * value.item<double>() / slope;  // half a percent of the loss
  const double above = move(way), below = move(-2 * way);
  EXPECT_NEAR((above - below) / (2 * way), slope, 0.1 * slope);
}

}  // namespace addp::testing
