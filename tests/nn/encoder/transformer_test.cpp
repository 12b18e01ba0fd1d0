// Blocks, ViT, positions, dropout: what the parity fixtures do not reach.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/log.h"
#include "machine/precision.h"
#include "model/init.h"
#include "model/presets.h"
#include "nn/encoder/vit.h"
#include "nn/layer/position.h"
#include "nn/layer/rows.h"
#include "nn/torch.h"
#include "support/torch_fixtures.h"

namespace addp {
namespace {

using testing::relative_error;

VitConfig small_vit() {
  VitConfig config;
  config.width = 16;
  config.depth = 2;
  config.heads = 4;
  config.patch = 4;
  config.grid = {3, 5};
  return config;
}

TEST(Attention, FusedAndExplicitAgreeWithTheirGradients) {
  Attention attention(24, 3, 0);
  initialise(attention, RandomStream(1, "test"));
  const auto gradients = [&] {
    attention.zero_grad();
    Tensor x = (torch::arange(2 * 7 * 24).sin().view({2, 7, 24})).requires_grad_();
    attention.forward(x).cos().sum().backward();
    std::vector<Tensor> all{x.grad()};
    for (const Tensor& p : attention.parameters()) all.push_back(p.grad().clone());
    return all;
  };
  const auto fused = gradients();
  const ReferenceArithmetic scope;
  const auto plain = gradients();
  for (std::size_t i = 0; i < fused.size(); ++i)
    EXPECT_LT(relative_error(fused[i], plain[i]), 1e-4);
}

TEST(Attention, HeadsMustDivideTheWidth) { EXPECT_THROW(Attention(10, 3, 0), UsageError); }

TEST(Dropout, KeepsTheMeanAndFollowsItsStream) {
  DropoutKeys keys(RandomStream(1, "dropout")), same(RandomStream(1, "dropout"));
  const Tensor x = torch::ones({200, 500});
  const Tensor dropped = dropout(x, 0.1, &keys);
  EXPECT_TRUE(dropped.equal(dropout(x, 0.1, &same)));
  EXPECT_FALSE(dropped.equal(dropout(x, 0.1, &keys)));
  EXPECT_NEAR(dropped.mean().item<double>(), 1, 0.01);
  EXPECT_NEAR((dropped == 0).to(torch::kFloat32).mean().item<double>(), 0.1, 0.01);
  EXPECT_TRUE(dropout(x, 0.1, nullptr).equal(x));
}

TEST(Dropout, DropPathDropsWholeSamples) {
  DropoutKeys keys(RandomStream(1, "path"));
  const Tensor kept = drop_path(torch::ones({1000, 3, 2}), 0.25, &keys).flatten(1);
  EXPECT_TRUE((kept == kept.select(1, 0).unsqueeze(1)).all().item<bool>());
  EXPECT_NEAR((kept.select(1, 0) == 0).to(torch::kFloat32).mean().item<double>(), 0.25, 0.05);
  EXPECT_NEAR(kept.max().item<double>(), 1 / 0.75, 1e-6);
}

TEST(Dropout, OwesNothingToTheGlobalGenerator) {
  const Tensor x = torch::ones({64, 64});
  torch::manual_seed(1);
  DropoutKeys first(RandomStream(9, "dropout"));
  const Tensor a = dropout(x, 0.5, &first);
  torch::manual_seed(2);
  DropoutKeys second(RandomStream(9, "dropout"));
  EXPECT_TRUE(a.equal(dropout(x, 0.5, &second)));
}

TEST(Positions, ResizeKeepsTheClassRowAndConstants) {
  const Tensor positions = torch::ones({1, 1 + 15, 4}) * 3;
  positions.slice(1, 0, 1).fill_(7);
  const Tensor resized = resize_positions(positions, {3, 5}, {6, 4});
  EXPECT_EQ(resized.sizes().vec(), (std::vector<std::int64_t>{1, 25, 4}));
  EXPECT_TRUE((resized.slice(1, 0, 1) == 7).all().item<bool>());
  EXPECT_LT(relative_error(resized.slice(1, 1), torch::full({1, 24, 4}, 3.F)), 1e-5);
  EXPECT_TRUE(resize_positions(positions, {3, 5}, {3, 5}).equal(positions));
}

TEST(Vit, RunsOnOtherGridsForwardAndBackward) {
  Vit vit(small_vit());
  initialise(vit, RandomStream(1, "test"));
  for (const auto& [height, width] : {std::pair<int, int>{12, 20}, {16, 8}}) {
    vit.zero_grad();
    DropoutKeys keys(RandomStream(2, "dropout"));
    const Tensor features = vit.features(torch::rand({2, 3, height, width}), &keys);
    EXPECT_EQ(features.size(1), 1 + height * width / 16);
    features.square().sum().backward();
    for (const auto& item : vit.named_parameters()) {
      ASSERT_TRUE(item.value().grad().defined()) << item.key();
    }
  }
  EXPECT_THROW(vit.features(torch::rand({1, 3, 13, 20})), UsageError);
}

// Two processes with half of a batch each drop what one with all of it would.
TEST(Dropout, SharesOfABatchDropAsTheWhole) {
  torch::NoGradGuard no_grad;
  const Tensor x = torch::ones({4, 5, 7});
  DropoutKeys whole(RandomStream(1, "dropout"));
  const Tensor all = dropout(x, 0.5, &whole), paths = drop_path(x, 0.5, &whole);
  const Tensor coarse = dropout(x.to(torch::kBFloat16), 0.5, &whole);
  for (const std::int64_t first : {0, 2}) {
    DropoutKeys keys(RandomStream(1, "dropout"), first, 2);
    const Tensor part = x.slice(0, first, first + 2);
    EXPECT_TRUE(dropout(part, 0.5, &keys).equal(all.slice(0, first, first + 2)));
    EXPECT_TRUE(drop_path(part, 0.5, &keys).equal(paths.slice(0, first, first + 2)));
    // Several rows of a sample, as windows of attention are.
    EXPECT_TRUE(dropout(part.to(torch::kBFloat16).reshape({10, 7}), 0.5, &keys)
                    .equal(coarse.slice(0, first, first + 2).reshape({10, 7})));
  }
}

TEST(Vit, ExtraPositionsTakePartAndAreNotReturned) {
  torch::NoGradGuard no_grad;
  Vit vit(small_vit());
  initialise(vit, RandomStream(1, "test"));
  const Tensor pixels = torch::rand({2, 3, 12, 20});
  const Tensor alone = vit.features(pixels);
  const Tensor joined = vit.features(pixels, nullptr, torch::randn({2, 4, 16}));
  EXPECT_EQ(joined.sizes(), alone.sizes());
  EXPECT_GT(relative_error(joined, alone), 1e-3);
}

// Some positions alone are those of all, and so are their gradients; none are none.
TEST(Vit, GivesThePositionsThatAreWanted) {
  Vit vit(small_vit());
  initialise(vit, RandomStream(1, "test"));
  const Tensor pixels = torch::rand({2, 3, 12, 20}), extra = torch::randn({2, 4, 16});
  const Tensor rows = torch::tensor({{0, 3, 15}, {2, 7, 8}}, torch::kInt64);
  const Tensor weights = torch::randn({2, 3, 16});
  const auto gradients = [&](const Tensor& features) {
    vit.zero_grad();
    (features * weights.slice(1, 0, features.size(1))).sum().backward();
    std::map<std::string, Tensor> found;
    for (const auto& item : vit.named_parameters()) found[item.key()] = item.value().grad().clone();
    return found;
  };
  for (const Tensor& joining : {Tensor(), extra}) {
    const Tensor all = pick_rows(vit.features(pixels, nullptr, joining), rows);
    const Tensor some = vit.features(pixels, nullptr, joining, rows);
    EXPECT_LT(relative_error(some, all), 1e-6);
    const auto wanted = gradients(all), found = gradients(some);
    for (const auto& [name, gradient] : wanted) {
      EXPECT_LT(relative_error(found.at(name), gradient), 1e-5) << name;
    }
  }
  const Tensor none = vit.features(pixels, nullptr, {}, rows.slice(1, 0, 0));
  EXPECT_EQ(none.sizes().vec(), (std::vector<std::int64_t>{2, 0, 16}));
  for (const auto& [name, gradient] : gradients(none)) {
    EXPECT_EQ(gradient.abs().sum().item<double>(), 0) << name;
  }
}

TEST(Rows, GoWhereTheyCameFrom) {
  const Tensor x = torch::randn({2, 5, 3});
  const Tensor flags = torch::tensor({{0, 1, 0, 1, 1}, {1, 1, 1, 0, 0}}).to(torch::kBool);
  const Tensor places = positions_of(flags);
  EXPECT_TRUE(places.equal(torch::tensor({{1, 3, 4}, {0, 1, 2}}, torch::kInt64)));
  const Tensor picked = pick_rows(x, places);
  EXPECT_TRUE(picked[0][1].equal(x[0][3]));
  EXPECT_TRUE(pick_rows(x, {}).equal(x));
  const Tensor put = put_rows(torch::zeros_like(x), places, picked);
  EXPECT_TRUE(put.equal(x * flags.unsqueeze(2)));
  EXPECT_THROW(positions_of(torch::tensor({{true, false}, {true, true}})), UsageError);
}

TEST(Vit, DropPathRisesWithDepth) {
  VitConfig config = small_vit();
  config.dropout = config.attention_dropout = 0;
  config.drop_path = 0.5;
  config.depth = 1;
  Vit one(config);
  initialise(one, RandomStream(1, "test"));
  DropoutKeys keys(RandomStream(1, "path"));
  const Tensor pixels = torch::rand({8, 3, 12, 20});
  EXPECT_FALSE(one.features(pixels, &keys).equal(one.features(pixels)));
}

TEST(Initialise, DependsOnNameAndStreamAlone) {
  VitConfig deeper = small_vit();
  deeper.depth = 3;
  Vit a(small_vit()), b(deeper);
  initialise(a, RandomStream(1, "init"));
  initialise(b, RandomStream(1, "init"));
  EXPECT_TRUE(a.named_parameters()["blocks.0.attn.qkv.weight"].equal(
      b.named_parameters()["blocks.0.attn.qkv.weight"]));
  EXPECT_FALSE(b.named_parameters()["blocks.0.attn.qkv.weight"].equal(
      b.named_parameters()["blocks.1.attn.qkv.weight"]));
  EXPECT_LE(a.named_parameters()["pos_embed"].abs().max().item<double>(), 0.04);
  EXPECT_TRUE((a.named_parameters()["blocks.0.norm1.weight"] == 1).all().item<bool>());
  EXPECT_TRUE((a.named_parameters()["patch_embed.proj.bias"] == 0).all().item<bool>());
}

TEST(Presets, NameWhatThereIs) {
  try {
    transformer_size("enormous");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("base"), std::string::npos);
  }
  EXPECT_EQ(usual_heads(768), 12);
  EXPECT_EQ(usual_decoder_heads(1024), 16);
}

TEST(Precision, ScopesEndWhereTheyEnd) {
  torch::NoGradGuard no_grad;
  const Linear layer(8, 8);
  initialise(const_cast<Linear&>(layer), RandomStream(1, "test"));
  const Tensor x = torch::rand({2, 8});
  {
    const Bf16Scope scope(true);
    EXPECT_EQ(layer.forward(x).scalar_type(), torch::kBFloat16);
    const Bf16Scope inner(false);
    EXPECT_EQ(layer.forward(x).scalar_type(), torch::kBFloat16);
  }
  EXPECT_EQ(layer.forward(x).scalar_type(), torch::kFloat32);
  EXPECT_FALSE(reference_arithmetic());
  {
    const ReferenceArithmetic scope;
    EXPECT_TRUE(reference_arithmetic());
  }
  EXPECT_FALSE(reference_arithmetic());
}

TEST(Precision, AutoIsBf16WhereItIsNotEmulated) {
  set_log_quiet(true);
  EXPECT_EQ(bf16_here(Precision::kAuto), bf16_here(Precision::kBfloat16));
  const Tensor x = torch::zeros({2});
  EXPECT_EQ(product_type(x), torch::kFloat32);
  const Bf16Scope scope(true);
  EXPECT_EQ(product_type(x), torch::kBFloat16);
}

TEST(Precision, InsistingOnBf16IsHeard) {
  set_log_quiet(true);
  EXPECT_FALSE(bf16_here(Precision::kFloat32));
  setenv("ADDP_BF16", "always", 1);
  EXPECT_TRUE(bf16_here(Precision::kBfloat16));
  EXPECT_FALSE(bf16_here(Precision::kFloat32));
  unsetenv("ADDP_BF16");
}

}  // namespace
}  // namespace addp
