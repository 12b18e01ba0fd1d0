// Mixup, cutmix, label smoothing and the losses of classifiers.
#include "feed/mixing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "nn/kernel/cross_entropy.h"
#include "nn/torch.h"

namespace addp {
namespace {

TEST(Mixing, BetaHasItsMoments) {
  for (const double alpha : {0.1, 0.8, 1.0, 3.0}) {
    RandomStream random(1, "beta");
    constexpr int kDraws = 20000;
    double sum = 0, squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double value = draw_beta(alpha, random);
      ASSERT_TRUE(value >= 0 && value <= 1);
      sum += value;
      squares += value * value;
    }
    const double mean = sum / kDraws;
    EXPECT_NEAR(mean, 0.5, 0.015) << alpha;
    EXPECT_NEAR(squares / kDraws - mean * mean, 1 / (4 * (2 * alpha + 1)), 0.01) << alpha;
  }
}

TEST(Mixing, CutmixShareIsThatOfTheCoveredPixels) {
  const Tensor pixels = torch::stack(
      {torch::zeros({3, 20, 30}), torch::ones({3, 20, 30})});  // partners of each other
  RandomStream random(2, "cut");
  for (int i = 0; i < 200; ++i) {
    const MixDraw draw = draw_mix({.mixup = 0, .cutmix = 1}, 30, 20, random);
    const Tensor mixed = mix_pixels(pixels, draw);
    EXPECT_NEAR(mixed[0].mean().item<double>(), 1 - draw.own, 1e-5);
    EXPECT_NEAR(mixed[1].mean().item<double>(), draw.own, 1e-5);
    EXPECT_TRUE(mixed.eq(0).logical_or(mixed.eq(1)).all().item<bool>());
  }
}

TEST(Mixing, MixupBlendsPicturesAndLabelsAlike) {
  const Tensor pixels = torch::stack({torch::zeros({3, 4, 4}), torch::ones({3, 4, 4})});
  RandomStream random(3, "mix");
  const MixDraw draw = draw_mix({.mixup = 0.8, .cutmix = 0}, 4, 4, random);
  EXPECT_EQ(draw.box.width, 0);
  const Tensor targets = mix_targets(torch::tensor({0, 2}, torch::kInt64), 4, draw, 0);
  EXPECT_NEAR(targets[0][0].item<double>(), draw.own, 1e-6);
  EXPECT_NEAR(targets[0][2].item<double>(), 1 - draw.own, 1e-6);
  EXPECT_NEAR(mix_pixels(pixels, draw)[0].mean().item<double>(), 1 - draw.own, 1e-5);
}

// Processes that share a batch mix what one process with all of it would.
TEST(Mixing, EvenSharesMixAsTheWholeBatch) {
  const Tensor pixels = torch::arange(12 * 3 * 4 * 4, torch::kFloat32).view({12, 3, 4, 4});
  const Tensor labels = torch::arange(12);
  for (const std::int64_t distance : {1, 3}) {
    const MixDraw draw{.own = 0.75, .distance = distance};
    const Tensor whole = mix_pixels(pixels, draw), targets = mix_targets(labels, 12, draw, 0);
    for (const std::int64_t first : {0, 6}) {
      EXPECT_TRUE(mix_pixels(pixels.slice(0, first, first + 6), draw)
                      .equal(whole.slice(0, first, first + 6)));
      EXPECT_TRUE(mix_targets(labels.slice(0, first, first + 6), 12, draw, 0)
                      .equal(targets.slice(0, first, first + 6)));
    }
    for (std::int64_t i = 0; i < 12; ++i) {
      EXPECT_EQ(targets[i][i].item<double>(), 0.75) << "picture " << i << " has no partner";
    }
  }
  // A picture that is repeated three times in a row is mixed with another one.
  const Tensor repeated = mix_targets(labels.div(3, "floor"), 4, {.own = 0.75, .distance = 3}, 0);
  EXPECT_EQ(repeated.max().item<double>(), 0.75);
  // What has no partner stays as it is.
  EXPECT_TRUE(mix_pixels(pixels.slice(0, 0, 3), {.own = 0.75})[2].equal(pixels[2]));
}

TEST(Mixing, WithoutEitherNothingIsMixed) {
  RandomStream random(4, "none");
  const MixDraw draw = draw_mix({.mixup = 0, .cutmix = 0}, 8, 8, random);
  EXPECT_EQ(draw.own, 1);
  const Tensor pixels = torch::rand({3, 3, 8, 8});
  EXPECT_TRUE(mix_pixels(pixels, draw).equal(pixels));
}

TEST(Mixing, BothAreDrawnAboutEquallyOften) {
  RandomStream random(5, "both");
  int cut = 0;
  for (int i = 0; i < 1000; ++i) cut += draw_mix({}, 64, 64, random).box.width > 0 ? 1 : 0;
  EXPECT_NEAR(cut, 500, 80);
}

TEST(Mixing, SmoothedTargetsSumToOne) {
  const Tensor labels = torch::tensor({1, 0, 3}, torch::kInt64);
  const Tensor targets = mix_targets(labels, 5, {.own = 0.7}, 0.1);
  EXPECT_TRUE(targets.sum(1).allclose(torch::ones({3})));
  EXPECT_NEAR(targets.min().item<double>(), 0.02, 1e-6);
  // Smoothing in the targets is smoothing in the loss.
  const Tensor logits = torch::randn({3, 5});
  const Tensor hard = mix_targets(labels, 5, {}, 0), smooth = mix_targets(labels, 5, {}, 0.1);
  EXPECT_NEAR(smoothed_cross_entropy(logits, {.probabilities = smooth}, 0).item<double>(),
              smoothed_cross_entropy(logits, {.probabilities = hard}, 0.1).item<double>(), 1e-5);
}

TEST(Mixing, BinaryLossAsksEachClassByItself) {
  const Tensor logits = torch::tensor({{2.0F, -1.0F, 0.0F}});
  const Tensor targets = torch::tensor({{0.6F, 0.4F, 0.0F}});
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  const double soft = (softplus(2) - 0.6 * 2 + softplus(-1) + 0.4 + softplus(0)) / 3;
  EXPECT_NEAR(binary_class_loss(logits, targets, 0).item<double>(), soft, 1e-5);
  const double hard = (softplus(-2) + softplus(1) + softplus(0)) / 3;  // both above 0.2
  EXPECT_NEAR(binary_class_loss(logits, targets, 0.2).item<double>(), hard, 1e-5);
}

}  // namespace
}  // namespace addp
