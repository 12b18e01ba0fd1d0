// The discriminator on frozen features: its weights keep to the unit sphere of operators.
#include "tokenizer/feature_discriminator.h"

#include <gtest/gtest.h>

#include "model/init.h"
#include "nn/torch.h"
#include "tokenizer/discriminator.h"

namespace addp {
namespace {

TEST(SpectralConv2d, ItsLargestSingularValueBecomesOne) {
  SpectralConv2d conv(5, 7, 1);
  initialise(conv, RandomStream(1, "test"));
  torch::NoGradGuard guard;
  conv.named_parameters()["weight"].mul_(13);
  const Tensor pixels = torch::eye(5).view({5, 5, 1, 1});  // its answers are the matrix itself
  Tensor matrix;
  for (int i = 0; i < 200; ++i) matrix = conv.forward(pixels).flatten(1);
  EXPECT_NEAR(torch::linalg_svdvals(matrix).max().item<double>(), 1, 1e-3);
  conv.eval();
  const Tensor before = conv.named_buffers()["left"].clone();
  conv.forward(pixels);
  EXPECT_TRUE(torch::equal(before, conv.named_buffers()["left"]));
}

TEST(FeatureDiscriminator, LearnsToTellTwoKindsOfFeaturesApart) {
  const std::vector<std::int64_t> channels = {4, 6};
  FeatureDiscriminator network(channels, 8);
  initialise(network, RandomStream(2, "test"));
  const auto maps = [](double mean) {
    return std::vector<Tensor>{torch::full({3, 4, 5, 5}, mean), torch::full({3, 6, 2, 2}, mean)};
  };
  const auto real = maps(1), fake = maps(-1);
  double first = 0, last = 0;
  for (int step = 0; step < 60; ++step) {
    const auto logits = network.forward(real);
    ASSERT_EQ(logits.size(), 2U);
    EXPECT_EQ(logits[0].sizes(), torch::IntArrayRef({3, 1, 5, 5}));
    const Tensor loss = discriminator_loss(logits, network.forward(fake));
    network.zero_grad();
    loss.backward();
    torch::NoGradGuard guard;
    for (auto& parameter : network.parameters()) parameter -= 0.1 * parameter.grad();
    (step == 0 ? first : last) = loss.item<double>();
  }
  EXPECT_LT(last, 0.5 * first);
}

}  // namespace
}  // namespace addp
