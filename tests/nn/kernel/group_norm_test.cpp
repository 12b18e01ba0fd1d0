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

// Of the result and of the gradients, relative.
struct Errors {
  double out, x, weight, bias;
};

// Against torch in double. `x` and `seed`, the gradient of the result, are of the type under test.
Errors compare(const NormCase& c, const Tensor& x, const Tensor& seed) {
  const auto leaf = [](const Tensor& t) { return t.detach().clone().requires_grad_(); };
  const Tensor weight = torch::randn({c.channels}), bias = torch::randn({c.channels});
  const Tensor dx = leaf(x.to(torch::kFloat64)), dw = leaf(weight.to(torch::kFloat64)),
               db = leaf(bias.to(torch::kFloat64));
  const Tensor wanted = at::silu(at::group_norm(dx, c.groups, dw, db, 1e-6));
  wanted.backward(seed.to(torch::kFloat64));

  const Tensor fx = leaf(x), fw = leaf(weight), fb = leaf(bias);
  const Tensor actual = group_norm_swish(fx, c.groups, fw, fb, 1e-6);
  EXPECT_EQ(actual.scalar_type(), x.scalar_type());
  EXPECT_TRUE(actual.is_contiguous(at::MemoryFormat::ChannelsLast));
  actual.backward(seed);
  EXPECT_EQ(fx.grad().scalar_type(), x.scalar_type());
  return {relative_error(actual, wanted), relative_error(fx.grad(), dx.grad()),
          relative_error(fw.grad(), dw.grad()), relative_error(fb.grad(), db.grad())};
}

class GroupNormSwish : public ::testing::TestWithParam<NormCase> {};

// Against torch in double.
TEST_P(GroupNormSwish, ForwardAndGradientsFollowTheDefinition) {
  const NormCase& c = GetParam();
  torch::manual_seed(5);
  const Tensor x = torch::randn({c.batch, c.channels, c.height, c.width}) + c.level;
  const Tensor seed = torch::randn(x.sizes());

  const Errors errors = compare(c, x, seed);
  const double tolerance = 1e-5 * (1 + c.level);
  EXPECT_LT(errors.out, tolerance);
  EXPECT_LT(errors.x, tolerance);
  EXPECT_LT(errors.weight, tolerance);
  EXPECT_LT(errors.bias, tolerance);
}

// bfloat16 in and out, against torch in double on the same rounded pictures: the only differences
// are the roundings of what is written, 2^-9 of a value each. Sums see none of them.
TEST_P(GroupNormSwish, Bfloat16IsRoundedOnlyWhereItIsWritten) {
  const NormCase& c = GetParam();
  torch::manual_seed(6);
  const auto rounded = [](const Tensor& t) { return t.to(torch::kBFloat16); };
  const Tensor x = rounded(torch::randn({c.batch, c.channels, c.height, c.width}) + c.level);
  const Tensor seed = rounded(torch::randn(x.sizes()));

  const Errors errors = compare(c, x, seed);
  EXPECT_LT(errors.out, 1.0 / 256);
  EXPECT_LT(errors.x, 2.0 / 256);
  EXPECT_LT(errors.weight, 1e-5 * (1 + c.level));
  EXPECT_LT(errors.bias, 1e-5 * (1 + c.level));
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
