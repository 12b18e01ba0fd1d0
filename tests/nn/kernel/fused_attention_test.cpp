#include "nn/kernel/fused_attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "nn/torch.h"
#include "support/torch_fixtures.h"

namespace addp {
namespace {

using testing::leaf;
using testing::relative_error;

struct Shape {
  std::int64_t batch, length, heads, width;  // of one head
};

void PrintTo(const Shape& s, std::ostream* out) {
  *out << s.batch << "x" << s.length << ", " << s.heads << " heads of " << s.width;
}

// Values that bfloat16 holds exactly, so that every computation starts from the same.
Tensor projections(const Shape& s) {
  torch::manual_seed(5);
  return (1.5 * torch::randn({s.batch, s.length, 3 * s.heads * s.width})).to(torch::kBFloat16);
}

Tensor outer_gradient(const Shape& s) {
  torch::manual_seed(6);
  return torch::randn({s.batch, s.length, s.heads * s.width}).to(torch::kBFloat16);
}

// The definition, in the type of `x`; dropout's draws are those of float32.
Tensor composed(const Tensor& x, const Shape& s, double rate, DropoutKeys* keys) {
  const auto qkv =
      x.view({s.batch, s.length, 3, s.heads, s.width}).permute({2, 0, 3, 1, 4}).unbind(0);
  const Tensor scores = at::matmul(qkv[0], qkv[1].transpose(-2, -1)) / std::sqrt(double(s.width));
  Tensor weights = scores.softmax(-1);
  if (keys != nullptr) {
    weights = weights * dropout(torch::ones(weights.sizes()), rate, keys).to(x.scalar_type());
  }
  return at::matmul(weights, qkv[2]).transpose(1, 2).reshape({s.batch, s.length, -1});
}

class FusedAttention : public ::testing::TestWithParam<Shape> {};

TEST_P(FusedAttention, IsTheDefinitionWithItsGradient) {
  const Shape s = GetParam();
  for (const double rate : {0.0, 0.3}) {
    DropoutKeys keys(RandomStream(1, "keys"), 2, s.batch);
    const Tensor exact = leaf(projections(s), torch::kFloat64);
    const Tensor wanted = composed(exact, s, rate, rate > 0 ? &keys : nullptr);
    wanted.backward(outer_gradient(s).to(torch::kFloat64));
    for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
      DropoutKeys own(RandomStream(1, "keys"), 2, s.batch);
      const Tensor x = leaf(projections(s), type);
      const Tensor mixed = mix_heads(x, s.heads, rate, &own);
      ASSERT_EQ(mixed.scalar_type(), type);
      mixed.backward(outer_gradient(s).to(type));
      // Of a bfloat16 eight bits count; weights and slopes are rounded once more than results.
      const double tolerance = type == torch::kFloat32 ? 2e-6 : 1.0 / 128;
      EXPECT_LT(relative_error(mixed, wanted), tolerance);
      EXPECT_LT(relative_error(x.grad(), exact.grad()), tolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, FusedAttention,
                         ::testing::Values(Shape{2, 65, 4, 32}, Shape{1, 257, 2, 64},
                                           Shape{3, 48, 1, 48}, Shape{2, 64, 2, 16},
                                           Shape{2, 13, 3, 5}, Shape{1, 2, 1, 8},
                                           Shape{2, 97, 1, 40}));

TEST(FusedAttention, OnePositionSeesItself) {
  const Shape s{2, 1, 2, 8};
  const Tensor x = leaf(projections(s), torch::kFloat32);
  const Tensor mixed = mix_heads(x, s.heads, 0, nullptr);
  EXPECT_TRUE(mixed.equal(x.slice(2, 32)));
  mixed.sum().backward();
  EXPECT_EQ(x.grad().slice(2, 0, 32).abs().max().item<float>(), 0);
  EXPECT_TRUE((x.grad().slice(2, 32) == 1).all().item<bool>());
}

TEST(FusedAttention, ScoresFarApartDoNotOverflow) {
  const Shape s{1, 20, 1, 8};
  const Tensor x = projections(s).to(torch::kFloat32) * 200;
  const Tensor mixed = mix_heads(x, 1, 0, nullptr);
  EXPECT_TRUE(mixed.isfinite().all().item<bool>());
  EXPECT_LT(relative_error(mixed, composed(x.to(torch::kFloat64), s, 0, nullptr)), 1e-5);
}

TEST(FusedAttention, WhatIsNotANumberStaysInItsSample) {
  const Shape s{2, 20, 2, 16};
  for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
    const Tensor x = projections(s).to(type);
    x[1][3].fill_(std::nan(""));
    const Tensor mixed = mix_heads(x, s.heads, 0, nullptr);
    EXPECT_TRUE(mixed[0].isfinite().all().item<bool>());
    EXPECT_TRUE(mixed[1].isnan().all().item<bool>());
  }
}

TEST(FusedAttention, TakesViewsAndNothing) {
  const Shape s{3, 10, 2, 8};
  const Tensor x = projections(s).to(torch::kFloat32);
  const Tensor view = x.transpose(0, 1).contiguous().transpose(0, 1);
  ASSERT_FALSE(view.is_contiguous());
  EXPECT_TRUE(mix_heads(view, 2, 0, nullptr).equal(mix_heads(x, 2, 0, nullptr)));
  EXPECT_EQ(mix_heads(x.slice(0, 0, 0), 2, 0, nullptr).size(0), 0);
  EXPECT_EQ(mix_heads(x.slice(1, 0, 0), 2, 0, nullptr).size(1), 0);
}

TEST(FusedAttention, DoesNotDependOnTheThreadsOrTheBatch) {
  const Shape s{4, 65, 4, 32};
  const int threads = torch::get_num_threads();
  std::vector<Tensor> results, gradients;
  for (const int count : {1, 2}) {
    torch::set_num_threads(count);
    const Tensor x = leaf(projections(s), torch::kBFloat16);
    results.push_back(mix_heads(x, s.heads, 0, nullptr));
    results.back().backward(outer_gradient(s));
    gradients.push_back(x.grad());
  }
  torch::set_num_threads(threads);
  EXPECT_TRUE(results[0].equal(results[1]));
  EXPECT_TRUE(gradients[0].equal(gradients[1]));
  EXPECT_TRUE(mix_heads(projections(s).slice(0, 2, 3), s.heads, 0, nullptr)
                  .equal(results[0].slice(0, 2, 3)));
}

}  // namespace
}  // namespace addp
