#include "eval/generation/lpips.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "nn/torch.h"
#include "support/fixtures.h"
#include "support/small_lpips.h"
#include "support/torch_fixtures.h"

namespace addp {
namespace {

using testing::relative_error;

TEST(Lpips, RealWeightsOnPhotographs) {
  ADDP_REQUIRE_FIXTURE_FILE(recorded, "ops/real_weights.safetensors");
  ADDP_REQUIRE_WEIGHTS(weights, "lpips-alex-fp16.safetensors");
  auto f = testing::load_tensors(recorded);
  const auto lpips = Lpips::open(weights);
  EXPECT_LT(relative_error(lpips(f["lpips_a"], f["lpips_b"]), f["lpips"]), 1e-4);
  const auto a = torch::avg_pool2d(f["lpips_a"], 4), b = torch::avg_pool2d(f["lpips_b"], 4);
  EXPECT_LT(relative_error(lpips(a, b), f["lpips_avgpool4"]), 1e-4);
}

TEST(Lpips, DistanceIsZeroForEqualPicturesAndSymmetric) {
  const Lpips lpips(testing::small_lpips(false), "w");
  const auto x = testing::formula_weight("x.weight", 1, {2, 3, 40, 33}).clamp(-1, 1);
  const auto y = testing::formula_weight("x.weight", 7, {2, 3, 40, 33}).clamp(-1, 1);
  EXPECT_EQ(lpips(x, x).abs().max().item<float>(), 0);
  EXPECT_GT(lpips(x, y).min().item<float>(), 0);
  EXPECT_TRUE(torch::allclose(lpips(x, y), lpips(y, x)));
}

TEST(Lpips, GradientPointsDownhillAndIsFiniteForDeadFeatures) {
  const Lpips lpips(testing::small_lpips(false), "w"), dead(testing::small_lpips(true), "w");
  const auto target = testing::formula_weight("x.weight", 7, {1, 3, 36, 36});
  auto x = torch::zeros({1, 3, 36, 36}).requires_grad_(true);
  const auto before = lpips(x, target).sum();
  before.backward();
  EXPECT_GT(x.grad().abs().sum().item<float>(), 0);
  // Against the gradient by a little: the decrease is what the gradient promises.
  const auto step = 1e-4 / x.grad().norm();
  const auto promised = (step * x.grad().pow(2).sum()).item<double>();
  const auto after = lpips(x.detach() - step * x.grad(), target).sum();
  EXPECT_NEAR((before - after).item<double>(), promised, 0.2 * promised);

  auto z = torch::zeros({1, 3, 36, 36}).requires_grad_(true);
  dead(z, target).sum().backward();
  EXPECT_TRUE(z.grad().isfinite().all().item<bool>());
}

TEST(Lpips, BadInputIsRefused) {
  const Lpips lpips(testing::small_lpips(false), "w");
  EXPECT_THROW(lpips(torch::zeros({1, 3, 30, 64}), torch::zeros({1, 3, 30, 64})), UsageError);
  EXPECT_THROW(lpips(torch::zeros({1, 3, 64, 64}), torch::zeros({2, 3, 64, 64})), UsageError);
  EXPECT_NO_THROW(lpips(torch::zeros({1, 3, kLpipsMinSide, kLpipsMinSide}),
                        torch::ones({1, 3, kLpipsMinSide, kLpipsMinSide})));
  auto weights = testing::small_lpips(false);
  weights.erase("lin3.weight");
  EXPECT_THROW(Lpips(weights, "w"), DataError);
}

}  // namespace
}  // namespace addp
