#include "heads/backbone/maps.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heads/small_heads.h"
#include "model/init.h"
#include "support/network_fixture.h"

namespace addp {
namespace {

using testing::noise_pixels;
using testing::tiny_resnet;
using testing::tiny_vit;

std::shared_ptr<Maps> make_maps(const MapsConfig& config, bool random_tables = true) {
  auto network = std::make_shared<Maps>(config);
  initialise(*network, RandomStream(1, "test"));  // relative tables get random values, too
  if (!random_tables) {
    torch::NoGradGuard no_grad;
    for (const auto& item : network->named_parameters()) {
      if (item.key().starts_with("relative.")) item.value().zero_();
    }
  }
  return network;
}

void copy_weights(const Maps& from, Maps& to) {
  torch::NoGradGuard no_grad;
  const auto source = from.named_parameters();
  for (const auto& item : to.named_parameters()) item.value().copy_(source[item.key()]);
}

TEST(Maps, OneWindowOverTheGridIsGlobalAttention) {
  torch::NoGradGuard no_grad;
  const EncoderConfig encoder = tiny_vit(16, 4);
  const auto global = make_maps({.backbone = {.encoder = encoder}});
  const auto windowed = make_maps({.backbone = {.encoder = encoder}, .window = 4});
  copy_weights(*global, *windowed);
  const Tensor pixels = noise_pixels(2, 16, 16);
  EXPECT_TRUE(
      torch::allclose(global->forward(pixels)[3], windowed->forward(pixels)[3], 1e-4, 1e-5));
}

TEST(Maps, WindowsDoNotSeeEachOther) {
  torch::NoGradGuard no_grad;
  const GridAttention where{.grid = {6, 4}, .window = 2};
  const Tensor x = torch::arange(6 * 4 * 3, torch::kFloat).view({1, 24, 3});
  const Tensor windows = into_windows(x, where);
  EXPECT_EQ(windows.sizes(), (std::vector<std::int64_t>{6, 4, 3}));
  EXPECT_TRUE(torch::equal(out_of_windows(windows, where), x));
  Attention attention(8, 2, 0);
  initialise(attention, RandomStream(1, "test"));
  const Tensor a = noise_pixels(1, 24, 8).select(1, 0);
  Tensor b = a.clone();
  b[0][0].add_(1);  // the first window holds the positions 0, 1, 4 and 5
  const Tensor change =
      (attention.forward(a, nullptr, &where) - attention.forward(b, nullptr, &where))
          .abs()
          .sum(2)[0];
  for (std::int64_t i = 0; i < 24; ++i) {
    const bool inside = i == 0 || i == 1 || i == 4 || i == 5;
    EXPECT_EQ(change[i].item<float>() > 1e-6, inside) << i;
  }
}

TEST(Maps, WindowsThatDoNotFitAreFilledUp) {
  const GridAttention where{.grid = {5, 3}, .window = 2};
  const Tensor x = torch::arange(5 * 3 * 2, torch::kFloat).view({1, 15, 2});
  const Tensor windows = into_windows(x, where);
  EXPECT_EQ(windows.size(0), 6);
  EXPECT_EQ(windows.sum().item<float>(), x.sum().item<float>());
  EXPECT_TRUE(torch::equal(out_of_windows(windows, where), x));
}

// Against the definition, pair by pair.
TEST(Maps, RelativeScoresAreThoseOfDistances) {
  const Grid grid{2, 3};
  const Tensor q = noise_pixels(1, 6, 4).slice(1, 0, 2);  // [1, 2, 6, 4]
  const GridAttention where{.grid = grid,
                            .rows = noise_pixels(1, 3, 4, 5)[0][0],
                            .columns = noise_pixels(1, 5, 4, 6)[0][0]};
  const Tensor scores = relative_scores(q, where);
  for (std::int64_t a = 0; a < 6; ++a) {
    for (std::int64_t b = 0; b < 6; ++b) {
      const Tensor table = where.rows[a / 3 - b / 3 + 1] + where.columns[a % 3 - b % 3 + 2];
      EXPECT_NEAR(scores[0][1][a][b].item<float>(), (q[0][1][a] * table).sum().item<float>(), 1e-5);
    }
  }
}

TEST(Maps, ZeroTablesAreNoTables) {
  torch::NoGradGuard no_grad;
  const EncoderConfig encoder = tiny_vit(16, 4);
  const auto with = make_maps({.backbone = {.encoder = encoder}}, /*random_tables=*/false);
  const auto without = make_maps({.backbone = {.encoder = encoder}, .relative_positions = false});
  copy_weights(*with, *without);
  const Tensor pixels = noise_pixels(1, 24, 16);  // another size: positions are resized
  EXPECT_TRUE(torch::allclose(with->forward(pixels)[3], without->forward(pixels)[3], 1e-4, 1e-5));
}

TEST(Maps, TapsAreBeits) {
  EXPECT_EQ(tapped_blocks(12), (std::array<std::int64_t, 4>{3, 5, 7, 11}));
  EXPECT_EQ(tapped_blocks(24), (std::array<std::int64_t, 4>{7, 11, 15, 23}));
  std::vector<std::int64_t> global;
  for (std::int64_t i = 0; i < 12; ++i) {
    if (attends_globally(i, 12)) global.push_back(i);
  }
  EXPECT_EQ(global, (std::vector<std::int64_t>{2, 5, 8, 11}));  // ViTDet's
}

TEST(Maps, ResNetGivesItsStages) {
  torch::NoGradGuard no_grad;
  const auto network = make_maps({.backbone = {.encoder = tiny_resnet()}, .frozen_norm = true});
  network->train();
  const auto before = network->named_buffers()["resnet.bn1.running_mean"].clone();
  const auto maps = network->forward(noise_pixels(1, 64, 96));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(maps[i].size(1), network->channels()[i]);
    EXPECT_EQ(maps[i].size(2), 64 / network->strides()[i]);
  }
  EXPECT_TRUE(torch::equal(network->named_buffers()["resnet.bn1.running_mean"], before));
}

TEST(Maps, TakesAPublishedEncoder) {
  torch::NoGradGuard no_grad;
  ADDP_FOR_EACH_NETWORK_FIXTURE(folder) {
    const ModelFile file = open_model(folder / "addp.pth");
    Maps network(
        {.backbone = fine_tuning_backbone(backbone_config(file), {6, 6}, 0.1), .window = 3});
    initialise(network, RandomStream(1, "test"));
    network.load_pretrained(file);
    EXPECT_TRUE(network.named_parameters()["encoder.blocks.0.attn.qkv.weight"].equal(
        to_torch(file.tensors.at("blocks.0.attn.qkv.weight"))));
  }
}

TEST(Maps, LayerDecayReachesRelativePositions) {
  Segmenter segmenter(testing::tiny_segmenter(tiny_vit(16, 4), 16));
  const auto groups = maps_groups(segmenter, segmenter.config().maps, 0.5, 0.1);
  std::map<std::string, double> scale;
  for (const auto& group : groups) {
    for (const auto& name : group.names) scale[name] = group.lr_scale;
  }
  EXPECT_DOUBLE_EQ(scale.at("patch_embed.proj.weight"), std::pow(0.5, 5));
  EXPECT_DOUBLE_EQ(scale.at("blocks.3.attn.qkv.weight"), 0.5);
  EXPECT_DOUBLE_EQ(scale.at("blocks.3.relative.rows"), 0.5);
  EXPECT_DOUBLE_EQ(scale.at("decode.classify.weight"), 1);
}

}  // namespace
}  // namespace addp
