#include "nn/kernel/residual.h"

#include <gtest/gtest.h>

#include "machine/precision.h"
#include "nn/torch.h"
#include "support/torch_fixtures.h"

namespace addp {
namespace {

using testing::leaf;
using testing::relative_error;

struct Leaves {
  Tensor x, branch, weight, bias;

  Leaves(std::int64_t width, torch::ScalarType type, torch::ScalarType branch_type) {
    torch::manual_seed(3);
    x = leaf(torch::randn({5, 70, width}) * 3 + 1, type);
    // Values that bfloat16 holds exactly, so that both computations start from the same.
    branch = leaf(torch::randn({5, 70, width}).to(torch::kBFloat16), branch_type);
    weight = leaf(torch::randn({width}), type);
    bias = leaf(torch::randn({width}), type);
  }
};

// The loss mixes both results so that every gradient counts.
void run_backward(const Tensor& sum, const Tensor& normed) {
  torch::manual_seed(4);
  const Tensor a = torch::randn(sum.sizes()), b = torch::randn(normed.sizes());
  ((sum * a).sum() +
   (normed.to(sum.scalar_type()) * b.to(torch::kBFloat16).to(sum.scalar_type())).sum())
      .backward();
}

class Residual : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(Residual, SumAndNormFollowTheDefinition) {
  const Leaves wanted(GetParam(), torch::kFloat64, torch::kFloat64);
  const Tensor sum = wanted.x + wanted.branch;
  run_backward(sum, at::layer_norm(sum, {GetParam()}, wanted.weight, wanted.bias, 1e-6));
  for (const bool bf16 : {false, true}) {
    const Bf16Scope scope(bf16);
    const auto type = bf16 ? torch::kBFloat16 : torch::kFloat32;
    const Leaves l(GetParam(), torch::kFloat32, type);
    const ResidualNorm r = add_and_norm(l.x, l.branch, 0, nullptr, {l.weight, l.bias, 1e-6});
    ASSERT_EQ(r.normed.scalar_type(), type);
    EXPECT_LT(relative_error(r.sum, sum), 1e-6);
    run_backward(r.sum, r.normed);
    EXPECT_LT(relative_error(l.x.grad(), wanted.x.grad()), 1e-5);
    EXPECT_LT(relative_error(l.weight.grad(), wanted.weight.grad()), 1e-5);
    EXPECT_LT(relative_error(l.bias.grad(), wanted.bias.grad()), 1e-5);
    EXPECT_LT(relative_error(l.branch.grad(), wanted.branch.grad()), bf16 ? 1.0 / 256 : 1e-5);
  }
}

TEST_P(Residual, FusedDropoutDropsWhatDropoutWould) {
  const Leaves l(GetParam(), torch::kFloat32, torch::kFloat32);
  const Leaves m(GetParam(), torch::kFloat32, torch::kFloat32);
  DropoutKeys fused(RandomStream(1, "keys"), 2, 5), plain(RandomStream(1, "keys"), 2, 5);
  const ResidualNorm r = add_and_norm(l.x, l.branch, 0.3, &fused, {l.weight, l.bias, 1e-6});
  const Tensor after = add_branch(r.sum, gelu_dropout(r.normed, 0.2, &fused), 0.1, &fused);
  const Tensor sum = m.x + dropout(m.branch, 0.3, &plain);
  const Tensor normed = at::layer_norm(sum, {GetParam()}, m.weight, m.bias, 1e-6);
  const Tensor expected = sum + dropout(dropout(at::gelu(normed), 0.2, &plain), 0.1, &plain);
  EXPECT_LT(relative_error(after, expected), 1e-5);
  after.cos().sum().backward();
  expected.cos().sum().backward();
  EXPECT_LT(relative_error(l.x.grad(), m.x.grad()), 1e-4);
  EXPECT_LT(relative_error(l.branch.grad(), m.branch.grad()), 1e-4);
  EXPECT_LT(relative_error(l.weight.grad(), m.weight.grad()), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Widths, Residual, ::testing::Values(8, 20, 128, 3));

// At a rate next to 0 everything is kept, but the fused loop runs.
constexpr double kHardly = 1e-12;

TEST(Gelu, FollowsTheDefinitionAlsoInTheTails) {
  const Tensor x = torch::linspace(-12, 12, 4001, torch::kFloat64);
  const Tensor in = leaf(x, torch::kFloat32), exact = leaf(x, torch::kFloat64);
  DropoutKeys keys(RandomStream(1, "keys"));
  const Tensor out = gelu_dropout(in, kHardly, &keys), wanted = at::gelu(exact);
  EXPECT_LT((out - wanted).abs().max().item<double>(), 2e-6);
  out.sum().backward();
  wanted.sum().backward();
  EXPECT_LT((in.grad() - exact.grad()).abs().max().item<double>(), 2e-6);
}

TEST(Gelu, InBfloat16IsWithinItsRounding) {
  // Values that bfloat16 holds: its own rounding may differ, and next to 0 a ten-thousandth.
  const Tensor middle = torch::linspace(-12, 12, 4001, torch::kFloat64);
  const Tensor x =
      torch::cat({middle, torch::tensor({-1e4, 1e4}, torch::kFloat64)}).to(torch::kBFloat16);
  const Tensor in = leaf(x, torch::kBFloat16), exact = leaf(x, torch::kFloat64);
  const Tensor out = gelu_dropout(in, 0, nullptr), wanted = at::gelu(exact);
  ASSERT_EQ(out.scalar_type(), torch::kBFloat16);
  out.sum().backward();
  wanted.sum().backward();
  const auto near = [](const Tensor& a, const Tensor& b) {
    const Tensor limit = b.abs() / 256 + 1e-4;
    return ((a.to(torch::kFloat64) - b).abs() <= limit).all().item<bool>();
  };
  EXPECT_TRUE(near(out, wanted));
  EXPECT_TRUE(near(in.grad(), exact.grad()));
}

TEST(Gelu, WhatIsNotANumberStaysSo) {
  DropoutKeys keys(RandomStream(1, "keys"));
  const Tensor x = torch::full({21}, std::nan(""), torch::kBFloat16);
  EXPECT_TRUE(gelu_dropout(x, kHardly, &keys).isnan().all().item<bool>());
  EXPECT_TRUE(gelu_dropout(x, 0, nullptr).isnan().all().item<bool>());
}

TEST(Residual, DoesNotDependOnTheThreads) {
  const Leaves l(24, torch::kFloat32, torch::kFloat32), m(24, torch::kFloat32, torch::kFloat32);
  const auto run = [](const Leaves& leaves) {
    const ResidualNorm r =
        add_and_norm(leaves.x, leaves.branch, 0, nullptr, {leaves.weight, leaves.bias, 1e-6});
    run_backward(r.sum, r.normed);
  };
  run(l);
  const int threads = torch::get_num_threads();
  torch::set_num_threads(threads == 1 ? 2 : 1);
  run(m);
  torch::set_num_threads(threads);
  EXPECT_TRUE(l.weight.grad().equal(m.weight.grad()));
  EXPECT_TRUE(l.x.grad().equal(m.x.grad()));
}

}  // namespace
}  // namespace addp
