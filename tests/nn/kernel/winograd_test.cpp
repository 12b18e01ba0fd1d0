#include "nn/kernel/winograd.h"

#include <gtest/gtest.h>

#include "machine/precision.h"
#include "nn/kernel/simd/winograd_kernels.h"
#include "nn/torch.h"
#include "support/torch_fixtures.h"

namespace addp {
namespace {

using testing::leaf;
using testing::relative_error;

struct ConvolutionCase {
  std::int64_t batch, inputs, outputs, height, width;
  bool with_bias;
};

Tensor maps(std::int64_t batch, std::int64_t channels, std::int64_t height, std::int64_t width) {
  return torch::randn({batch, channels, height, width})
      .contiguous(torch::MemoryFormat::ChannelsLast);
}

class WinogradConvolution : public ::testing::TestWithParam<ConvolutionCase> {};

// Against torch in double.
TEST_P(WinogradConvolution, ForwardAndGradientsFollowTheDefinition) {
  const ConvolutionCase& c = GetParam();
  torch::manual_seed(5);
  const Tensor x = maps(c.batch, c.inputs, c.height, c.width);
  const Tensor weight = torch::randn({c.outputs, c.inputs, 3, 3});
  const Tensor bias = c.with_bias ? torch::randn({c.outputs}) : Tensor();
  const Tensor seed = maps(c.batch, c.outputs, c.height, c.width);

  const Tensor dx = leaf(x, torch::kFloat64), dw = leaf(weight, torch::kFloat64);
  const Tensor db = c.with_bias ? leaf(bias, torch::kFloat64) : Tensor();
  const Tensor wanted = at::conv2d(dx, dw, db, 1, 1);
  wanted.backward(seed.to(torch::kFloat64));

  const Tensor fx = leaf(x, torch::kFloat32), fw = leaf(weight, torch::kFloat32),
               fb = c.with_bias ? leaf(bias, torch::kFloat32) : Tensor();
  const Tensor actual = winograd_convolution(fx, fw, fb);
  ASSERT_EQ(actual.sizes(), wanted.sizes());
  EXPECT_TRUE(actual.is_contiguous(at::MemoryFormat::ChannelsLast));
  actual.backward(seed);

  constexpr double kTolerance = 3e-6;
  EXPECT_LT(relative_error(actual, wanted), kTolerance);
  EXPECT_LT(relative_error(fx.grad(), dx.grad()), kTolerance);
  EXPECT_LT(relative_error(fw.grad(), dw.grad()), kTolerance);
  if (c.with_bias) {
    EXPECT_LT(relative_error(fb.grad(), db.grad()), kTolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, WinogradConvolution,
                         ::testing::Values(ConvolutionCase{2, 16, 16, 32, 32, true},
                                           ConvolutionCase{1, 48, 64, 17, 23, true},
                                           ConvolutionCase{3, 20, 37, 9, 14, false},
                                           ConvolutionCase{1, 64, 128, 1, 5, true},
                                           ConvolutionCase{5, 130, 70, 8, 8, false},
                                           ConvolutionCase{1, 16, 200, 2, 1, true}));

TEST(Winograd, DoesNotDependOnTheThreads) {
  const auto run = [&](const Tensor& x, const Tensor& weight, const Tensor& seed) {
    const Tensor fx = leaf(x, torch::kFloat32), fw = leaf(weight, torch::kFloat32);
    const Tensor out = winograd_convolution(fx, fw, {});
    out.backward(seed);
    return std::vector<Tensor>{out, fx.grad(), fw.grad()};
  };
  const Tensor x = maps(3, 48, 22, 18), weight = torch::randn({80, 48, 3, 3}),
               seed = maps(3, 80, 22, 18);
  const auto many = run(x, weight, seed);
  const int threads = torch::get_num_threads();
  torch::set_num_threads(1);
  const auto one = run(x, weight, seed);
  torch::set_num_threads(threads);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(one[i].equal(many[i])) << i;
}

TEST(Winograd, GradientsOfGradientsAreThoseOfTorch) {
  const Tensor x = maps(1, 16, 6, 6), weight = torch::randn({16, 16, 3, 3});
  const auto penalty = [&](bool own) {
    const Tensor fx = leaf(x, torch::kFloat32), fw = leaf(weight, torch::kFloat32);
    const Tensor out = own ? winograd_convolution(fx, fw, {}) : at::conv2d(fx, fw, {}, 1, 1);
    const Tensor slope = torch::autograd::grad({out.square().sum()}, {fx}, {}, true, true)[0];
    slope.square().sum().backward();
    return fw.grad();
  };
  EXPECT_LT(relative_error(penalty(true), penalty(false)), 1e-5);
}

TEST(Winograd, IsForLargeConvolutionsInFloat32) {
  if (!winograd_has_vectors()) GTEST_SKIP() << "this processor has no AVX2";
  const Tensor x = maps(1, 64, 32, 32), weight = torch::randn({64, 64, 3, 3});
  EXPECT_TRUE(suits_winograd(x, weight));
  EXPECT_FALSE(suits_winograd(x.to(torch::kFloat64), weight.to(torch::kFloat64)));
  EXPECT_FALSE(suits_winograd(x, torch::randn({64, 64, 1, 1})));
  EXPECT_FALSE(suits_winograd(x, torch::randn({3, 64, 3, 3})));
  EXPECT_FALSE(suits_winograd(maps(1, 64, 8, 8), weight));
  const ReferenceArithmetic as_released;
  EXPECT_FALSE(suits_winograd(x, weight));
}

}  // namespace
}  // namespace addp
