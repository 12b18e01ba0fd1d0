#include "nn/encoder/resnet.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "model/init.h"
#include "nn/torch.h"
#include "support/fixtures.h"
#include "support/torch_fixtures.h"

namespace addp {
namespace {

using testing::relative_error;

ResNetConfig tiny(std::int64_t classes = 0) {
  return {.depths = {1, 2, 1, 1}, .width = 4, .classes = classes};
}

Tensor picture(std::vector<std::int64_t> shape) {
  return testing::formula_weight("x.weight", 3, shape);
}

// The depths that the keys of a checkpoint tell.
ResNetConfig config_of(const std::vector<std::string>& keys) {
  ResNetConfig config;
  for (std::size_t stage = 0; stage < 4; ++stage) {
    std::int64_t depth = 0;
    for (const auto& key : keys) {
      if (key.starts_with("layer" + std::to_string(stage + 1) + ".") &&
          key.ends_with(".conv1.weight"))
        ++depth;
    }
    config.depths[stage] = depth;
  }
  return config;
}

TEST(ResNet, FormulaWeightsEqualTorchvision) {
  ADDP_REQUIRE_FIXTURE(folder, "ops");
  auto f = testing::load_tensors(folder / "resnet50.safetensors");
  std::ifstream file(folder / "resnet50_keys.json");
  const auto keys = nlohmann::json::parse(file).get<std::vector<std::string>>();
  auto config = config_of(keys);
  config.classes = f["logits"].size(1);
  ResNet network(config);

  TensorMap state = state_of(network);
  ASSERT_EQ(state.size(), keys.size());
  for (std::size_t k = 0; k < keys.size(); ++k) {
    ASSERT_TRUE(state.contains(keys[k])) << keys[k];
    if (keys[k].ends_with("num_batches_tracked")) continue;
    state[keys[k]] =
        to_view(testing::formula_weight(keys[k], std::int64_t(k), state[keys[k]].shape));
  }
  load_strictly(network, state, {.source = "formula weights"});
  network.eval();
  const torch::NoGradGuard no_grad;
  const auto maps = network.stages(f["image"]);
  const std::array<std::string, 4> names = {"c2", "c3", "c4", "c5"};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto kept = maps[i].slice(1, 0, maps[i].size(1), maps[i].size(1) / f[names[i]].size(1));
    EXPECT_LT(relative_error(kept, f[names[i]]), 1e-4) << names[i];
  }
  EXPECT_LT(relative_error(network.forward(f["image"]), f["logits"]), 1e-4);
}

TEST(ResNet, ChannelsLastGivesTheSame) {
  ResNet network(tiny(5));
  initialise(network, RandomStream(1, "init"));
  network.eval();
  const auto x = picture({2, 3, 64, 96});
  const auto plain = network.forward(x);
  const auto last = network.forward(x.contiguous(torch::MemoryFormat::ChannelsLast));
  EXPECT_LT(relative_error(last, plain), 1e-4);
}

TEST(ResNetEncoder, KeepsTheTokenGrid) {
  for (const bool pool : {true, false}) {
    ResNetConfig trunk = tiny();
    trunk.pool = pool;
    for (const std::int64_t stride : trunk.strides()) {
      ResNetEncoder encoder({.trunk = trunk, .stride = stride, .width = 12});
      initialise(encoder, RandomStream(1, "init"));
      const std::int64_t height = 32, width = 96;
      const auto out = encoder.features(picture({2, 3, height, width}));
      EXPECT_EQ(out.sizes(), torch::IntArrayRef({2, 1 + height / stride * (width / stride), 12}));
    }
  }
}

TEST(ResNetEncoder, TokensLookAtTheirPlace) {
  ResNetEncoder encoder({.trunk = tiny(), .stride = 16, .width = 8});
  initialise(encoder, RandomStream(1, "init"));
  encoder.eval();
  auto x = picture({1, 3, 256, 256}).requires_grad_(true);
  // The token of row 4, column 9 depends most on the pixels around (72, 152).
  encoder.features(x).select(1, 1 + 4 * 16 + 9).select(1, 0).sum().backward();
  const auto map = x.grad().abs().sum({0, 1});
  const auto all = map.sum().item<double>();
  const auto near = map.slice(0, 8, 136).slice(1, 88, 216).sum().item<double>();
  EXPECT_GT(near, 0.6 * all);
}

TEST(ResNetEncoder, EveryParameterGetsAGradient) {
  ResNetEncoder encoder({.trunk = tiny(), .stride = 8, .width = 12});
  initialise(encoder, RandomStream(1, "init"));
  const auto out = encoder.features(picture({2, 3, 64, 64}));
  (out * testing::formula_weight("g.weight", 1, out.sizes().vec())).sum().backward();
  for (const auto& item : encoder.named_parameters()) {
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    EXPECT_GT(item.value().grad().abs().max().item<float>(), 0) << item.key();
  }
}

TEST(ResNetEncoder, HasThePapersParameterCount) {
  const ResNetEncoder encoder(ResNetEncoderConfig{});
  EXPECT_NEAR(double(parameter_count(encoder)) / 1e6, 26, 0.5);
}

TEST(ResNetEncoder, ImpossibleRequestsAreRefused) {
  EXPECT_THROW(ResNetEncoder({.trunk = tiny(), .stride = 12, .width = 8}), UsageError);
  EXPECT_THROW(ResNet({.depths = {1, 0, 1, 1}}), UsageError);
  ResNetEncoder encoder({.trunk = tiny(), .stride = 16, .width = 8});
  initialise(encoder, RandomStream(1, "init"));
  EXPECT_THROW(encoder.features(picture({1, 3, 64, 64}), nullptr, torch::zeros({1, 4, 8})),
               UsageError);
}

}  // namespace
}  // namespace addp
