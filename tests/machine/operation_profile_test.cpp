#include "machine/operation_profile.h"

#include <gtest/gtest.h>

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

TEST(OperationProfile, ATransformerBlock) {
  torch::NoGradGuard guard;
  constexpr std::int64_t kBatch = 2, kLength = 10, kWidth = 16;
  Block block({.width = kWidth, .heads = 4, .mlp_ratio = 4});
  const OperationProfile count;
  block.forward(torch::zeros({kBatch, kLength, kWidth}), nullptr);
  const double linear = 2.0 * kBatch * kLength * 12 * kWidth * kWidth;
  const double attention = 2.0 * 2 * kBatch * kLength * kLength * kWidth;
  EXPECT_EQ(count.products(), linear + attention);
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
