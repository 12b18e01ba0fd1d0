// The patch discriminator's losses, against figures worked out by hand.
#include "tokenizer/discriminator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/init.h"
#include "nn/torch.h"

namespace addp {
namespace {

TEST(PairedLoss, IsTheSoftplusOfHowFarThePairLiesApart) {
  const std::vector<Tensor> more = {torch::tensor({2.0F, 0.0F}).view({2, 1, 1, 1}),
                                    torch::tensor({1.0F}).view({1, 1, 1, 1})};
  const std::vector<Tensor> less = {torch::tensor({1.0F, 3.0F}).view({2, 1, 1, 1}),
                                    torch::tensor({1.0F}).view({1, 1, 1, 1})};
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  const double first = 0.5 * (softplus(-1) + softplus(3)), second = softplus(0);
  EXPECT_NEAR(paired_loss(more, less).item<double>(), 0.5 * (first + second), 1e-6);
}

TEST(GradientPenalty, IsTheSquaredSlopeOfTheMeanLogit) {
  Discriminator network({.channels = 8, .layers = 1, .normalised = false});
  initialise(network, RandomStream(1, "test"));
  const Tensor pixels = torch::rand({2, 3, 16, 16});
  const double penalty = gradient_penalty(network, pixels).item<double>();
  // The same by finite differences along the gradient of one picture.
  const Tensor x = pixels.clone().set_requires_grad(true);
  const Tensor slope = torch::autograd::grad({network.forward(x).mean({1, 2, 3}).sum()}, {x})[0];
  torch::NoGradGuard guard;
  const double step = 1e-3;
  const Tensor direction = slope / slope.flatten(1).norm(2, 1).view({2, 1, 1, 1});
  const Tensor rise =
      (network.forward(pixels + step * direction) - network.forward(pixels - step * direction))
          .mean({1, 2, 3}) /
      (2 * step);
  EXPECT_NEAR(penalty, rise.square().mean().item<double>(), 0.02 * penalty);
  EXPECT_GT(penalty, 0);
}

TEST(GradientPenalty, HasAGradientInTheWeights) {
  Discriminator network({.channels = 8, .layers = 1, .normalised = false});
  initialise(network, RandomStream(1, "test"));
  gradient_penalty(network, torch::rand({2, 3, 16, 16})).backward();
  for (const auto& item : network.named_parameters()) {
    if (!item.key().ends_with("weight")) continue;
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    EXPECT_GT(item.value().grad().abs().max().item<double>(), 0) << item.key();
  }
}

}  // namespace
}  // namespace addp
