#include "nn/kernel/frozen_weights.h"

#include <gtest/gtest.h>

#include "machine/operation_profile.h"
#include "machine/precision.h"
#include "nn/layer/layers.h"
#include "nn/torch.h"
#include "support/torch_fixtures.h"

namespace addp {
namespace {

using testing::relative_error;

Tensor drawn(at::IntArrayRef shape) { return torch::randn(shape).requires_grad_(); }

// Every operation once; odd sizes, so that no kernel finds whole vectors only.
struct Operations {
  Tensor rows = torch::randn({2, 33, 40}), map = torch::randn({2, 24, 9, 7});
  Tensor weight = drawn({70, 40}), bias = drawn({70});
  Tensor kernel = drawn({20, 24, 3, 3}), doubling = drawn({20, 24, 3, 3}), offset = drawn({20});

  std::vector<Tensor> results() const {
    return {linear_product(rows, weight, bias),      linear_product(rows, weight, {}),
            linear_product_gelu(rows, weight, bias), convolution(map, kernel, offset, 1, 1),
            convolution(map, kernel, {}, 2, 0),      doubling_convolution(map, doubling, offset)};
  }
};

Operations some_operations() {
  torch::manual_seed(5);
  return {};
}

TEST(FrozenWeights, ChangeNothingButRounding) {
  const torch::NoGradGuard no_grad;
  const Operations operations = some_operations();
  const std::vector<Tensor> wanted = operations.results();
  for (const bool bf16 : {false, true}) {
    const Bf16Scope scope(bf16);
    const FrozenWeights frozen;
    for (int call = 0; call < 2; ++call) {  // laid out by the first, found by the second
      const std::vector<Tensor> got = operations.results();
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        ASSERT_EQ(got[i].scalar_type(), bf16 ? torch::kBFloat16 : torch::kFloat32) << i;
        ASSERT_EQ(got[i].sizes(), wanted[i].sizes()) << i;
        EXPECT_LT(relative_error(got[i].to(torch::kFloat32), wanted[i]), bf16 ? 0.02 : 1e-5) << i;
      }
    }
  }
}

// A product rounds its weights in any case.
TEST(FrozenWeights, MayBeKeptInHalfTheMemory) {
  const torch::NoGradGuard no_grad;
  const Bf16Scope scope(true);
  torch::manual_seed(5);
  const auto linear = std::make_shared<Linear>(40, 70);
  const auto convolution = std::make_shared<Conv2d>(24, 20, 3, ConvOptions{.padding = 1});
  for (Tensor* each : {&linear->weight, &linear->bias, &convolution->weight, &convolution->bias}) {
    each->normal_();
  }
  const Tensor rows = torch::randn({2, 33, 40}), map = torch::randn({2, 24, 9, 7});
  const auto results = [&] {
    const FrozenWeights frozen(/*lend=*/true);
    return std::vector<Tensor>{linear->forward(rows), linear->gelu(rows),
                               convolution->forward(map)};
  };
  const std::vector<Tensor> wanted = results();
  keep_weights_in_bf16(*linear);
  keep_weights_in_bf16(*convolution);
  EXPECT_EQ(linear->parameters()[0].scalar_type(), torch::kBFloat16);
  EXPECT_EQ(linear->parameters()[1].scalar_type(), torch::kFloat32);
  EXPECT_EQ(convolution->parameters()[0].nbytes(), 2 * 20 * 24 * 9);
  const Tensor product = linear->weight.clone(), kernel = convolution->weight.clone();
  for (int call = 0; call < 2; ++call) {
    const std::vector<Tensor> got = results();
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_TRUE(got[i].equal(wanted[i])) << i;
  }
  // Their memory was lent to what is computed with, and given back.
  EXPECT_TRUE(linear->weight.equal(product));
  EXPECT_TRUE(convolution->weight.equal(kernel));
}

TEST(FrozenWeights, LendTheirMemoryWhereTheyMay) {
  const torch::NoGradGuard no_grad;
  for (const bool lend : {false, true}) {
    const Operations operations = some_operations();
    const Tensor weight = operations.weight.clone(), kernel = operations.kernel.clone();
    const std::vector<Tensor> wanted = [&] {
      const FrozenWeights frozen(lend);
      const std::vector<Tensor> results = operations.results();
#if defined(__x86_64__)
      EXPECT_EQ(operations.weight.numel(), lend ? 0 : weight.numel());
#endif
      const FrozenWeights inner(!lend);  // as the outer one
      return results;
    }();
    EXPECT_TRUE(operations.weight.equal(weight)) << "lend: " << lend;
    EXPECT_TRUE(operations.kernel.equal(kernel)) << "lend: " << lend;
    const FrozenWeights frozen(!lend);
    const std::vector<Tensor> got = operations.results();
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_TRUE(got[i].equal(wanted[i])) << i;
  }
}

TEST(FrozenWeights, AreLookedAtAnewInTheNextScope) {
  const torch::NoGradGuard no_grad;
  const Bf16Scope scope(true);
  Operations operations = some_operations();
  {
    const FrozenWeights frozen;
    operations.results();
  }
  for (Tensor* t : {&operations.weight, &operations.bias, &operations.kernel, &operations.doubling,
                    &operations.offset}) {
    t->mul_(-2);
  }
  const std::vector<Tensor> wanted = operations.results();
  const FrozenWeights frozen;
  const std::vector<Tensor> got = operations.results();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_LT(relative_error(got[i].to(torch::kFloat32), wanted[i].to(torch::kFloat32)), 0.01) << i;
  }
}

// What the outer scope laid out is found again after an inner one: the weights are not looked at.
TEST(FrozenWeights, AnInnerScopeKeepsTheOutersForms) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "nothing is laid out on this kind of processor";
#endif
  const torch::NoGradGuard no_grad;
  const Operations operations = some_operations();
  const FrozenWeights outer;
  const Tensor wanted = linear_product(operations.rows, operations.weight, operations.bias);
  { const FrozenWeights inner; }
  operations.weight.mul_(-2);
  EXPECT_TRUE(linear_product(operations.rows, operations.weight, operations.bias).equal(wanted));
}

TEST(FrozenWeights, GradientsPassAsWithoutThem) {
  const Bf16Scope scope(true);
  const Operations operations = some_operations();
  const FrozenWeights frozen;
  linear_product_gelu(operations.rows, operations.weight, operations.bias).sum().backward();
  EXPECT_GT(operations.weight.grad().abs().sum().item<double>(), 0);
}

TEST(FrozenWeights, AreCountedAsTheSameArithmetic) {
  const torch::NoGradGuard no_grad;
  const Bf16Scope scope(true);
  const Operations operations = some_operations();
  const auto arithmetic = [&] {
    const OperationProfile profile;
    operations.results();
    return std::pair(profile.products(), profile.convolutions());
  };
  const auto wanted = arithmetic();
  const FrozenWeights frozen;
  EXPECT_EQ(arithmetic(), wanted);
}

}  // namespace
}  // namespace addp
