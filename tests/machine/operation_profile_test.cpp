#include "machine/operation_profile.h"

#include <gtest/gtest.h>

#include "machine/precision.h"
#include "nn/layer/block.h"
#include "nn/torch.h"

namespace addp {
namespace {

TEST(OperationProfile, ProductsAndConvolutions) {
  torch::NoGradGuard guard;
  const OperationProfile count;
  torch::ones({3, 5}).matmul(torch::ones({5, 7}));
  EXPECT_EQ(count.products(), 2 * 3 * 5 * 7);
  at::conv2d(torch::ones({2, 4, 9, 9}), torch::ones({6, 4, 3, 3}), {}, 2, 1);
  EXPECT_EQ(count.convolutions(), 2.0 * 2 * 5 * 5 * 6 * 4 * 9);
}

// Also with autocast, which wraps operations in themselves.
TEST(OperationProfile, ATransformerBlock) {
  constexpr std::int64_t kBatch = 2, kLength = 10, kWidth = 16;
  const double linear = 2.0 * kBatch * kLength * 12 * kWidth * kWidth;
  const double attention = 2.0 * 2 * kBatch * kLength * kLength * kWidth;
  Block block({.width = kWidth, .heads = 4, .mlp_ratio = 4});
  for (const bool bf16 : {false, true}) {
    const Bf16Scope scope(bf16);
    const OperationProfile count;
    const Tensor input = torch::zeros({kBatch, kLength, kWidth}, torch::requires_grad());
    const Tensor y = block.forward(input, nullptr);
    EXPECT_EQ(count.products(), linear + attention);
    y.sum().backward();
    // Of a product there are two gradients; fused attention makes its scores again for them.
    EXPECT_EQ(count.products(), 3 * linear + 3.5 * attention);
  }
}

TEST(OperationProfile, BeginsAtNothing) {
  {
    const OperationProfile before;
    torch::ones({3, 5}).matmul(torch::ones({5, 7}));
  }
  const OperationProfile count;
  EXPECT_EQ(count.products(), 0);
}

}  // namespace
}  // namespace addp
