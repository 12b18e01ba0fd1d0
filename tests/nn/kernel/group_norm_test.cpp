#include "nn/kernel/group_norm.h"

#include <gtest/gtest.h>

#include "nn/torch.h"
#include "support/torch_fixtures.h"

namespace addp {
namespace {

using testing::relative_error;

struct NormCase {
  std::int64_t batch, channels, groups, height, width;
  double level;  // mean of the pictures, in deviations
};

class GroupNormSwish : public ::testing::TestWithParam<NormCase> {};

// Against torch in double.
TEST_P(GroupNormSwish, ForwardAndGradientsFollowTheDefinition) {
  const NormCase& c = GetParam();
  torch::manual_seed(5);
  const auto leaf = [](const Tensor& t) { return t.detach().clone().requires_grad_(); };
  const Tensor x = torch::randn({c.batch, c.channels, c.height, c.width}) + c.level;
  const Tensor weight = torch::randn({c.channels}), bias = torch::randn({c.channels});
  const Tensor seed = torch::randn(x.sizes());

  const Tensor dx = leaf(x.to(torch::kFloat64)), dw = leaf(weight.to(torch::kFloat64)),
               db = leaf(bias.to(torch::kFloat64));
  const Tensor wanted = at::silu(at::group_norm(dx, c.groups, dw, db, 1e-6));
  wanted.backward(seed.to(torch::kFloat64));

  const Tensor fx = leaf(x), fw = leaf(weight), fb = leaf(bias);
  const Tensor actual = group_norm_swish(fx, c.groups, fw, fb, 1e-6);
  EXPECT_TRUE(actual.is_contiguous(at::MemoryFormat::ChannelsLast));
  actual.backward(seed);
  const double tolerance = 1e-5 * (1 + c.level);
  EXPECT_LT(relative_error(actual, wanted), tolerance);
  EXPECT_LT(relative_error(fx.grad(), dx.grad()), tolerance);
  EXPECT_LT(relative_error(fw.grad(), dw.grad()), tolerance);
  EXPECT_LT(relative_error(fb.grad(), db.grad()), tolerance);
}

// bfloat16 in and out, against torch in double on the same rounded pictures: the only differences
// are the roundings of what is written, 2^-9 of a value each. Sums see none of them.
TEST_P(GroupNormSwish, Bfloat16IsRoundedOnlyWhereItIsWritten) {
  const NormCase& c = GetParam();
  torch::manual_seed(6);
  const auto leaf = [](const Tensor& t) { return t.detach().clone().requires_grad_(); };
  const auto rounded = [](const Tensor& t) { return t.to(torch::kBFloat16); };
  const Tensor x = rounded(torch::randn({c.batch, c.channels, c.height, c.width}) + c.level);
  const Tensor weight = torch::randn({c.channels}), bias = torch::randn({c.channels});
  const Tensor seed = rounded(torch::randn(x.sizes()));

  const Tensor dx = leaf(x.to(torch::kFloat64)), dw = leaf(weight.to(torch::kFloat64)),
               db = leaf(bias.to(torch::kFloat64));
  const Tensor wanted = at::silu(at::group_norm(dx, c.groups, dw, db, 1e-6));
  wanted.backward(seed.to(torch::kFloat64));

  const Tensor fx = leaf(x), fw = leaf(weight), fb = leaf(bias);
  const Tensor actual = group_norm_swish(fx, c.groups, fw, fb, 1e-6);
  ASSERT_EQ(actual.scalar_type(), torch::kBFloat16);
  EXPECT_TRUE(actual.is_contiguous(at::MemoryFormat::ChannelsLast));
  actual.backward(seed);
  ASSERT_EQ(fx.grad().scalar_type(), torch::kBFloat16);
  EXPECT_LT(relative_error(actual, wanted), 1.0 / 256);
  EXPECT_LT(relative_error(fx.grad(), dx.grad()), 2.0 / 256);
  EXPECT_LT(relative_error(fw.grad(), dw.grad()), 1e-5 * (1 + c.level));
  EXPECT_LT(relative_error(fb.grad(), db.grad()), 1e-5 * (1 + c.level));
}

INSTANTIATE_TEST_SUITE_P(Shapes, GroupNormSwish,
                         ::testing::Values(NormCase{2, 8, 4, 5, 7, 0}, NormCase{1, 12, 3, 9, 4, 2},
                                           NormCase{1, 32, 32, 64, 80, 10},
                                           NormCase{3, 6, 1, 1, 3, 0},
                                           NormCase{2, 64, 32, 33, 17, 0.5}));

TEST(GroupNorm, DoesNotDependOnTheThreads) {
  const Tensor x = torch::randn({2, 16, 70, 50}), one = torch::ones({16}),
               zero = torch::zeros({16});
  const Tensor many = group_norm_swish(x, 4, one, zero, 1e-6);
  const int threads = torch::get_num_threads();
  torch::set_num_threads(1);
  EXPECT_TRUE(group_norm_swish(x, 4, one, zero, 1e-6).equal(many));
  torch::set_num_threads(threads);
}

}  // namespace
}  // namespace addp
