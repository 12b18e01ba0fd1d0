// The token predictor against the released one, its own training, and other sizes.
#include "predictor/mage.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "machine/precision.h"
#include "model/init.h"
#include "nn/torch.h"
#include "predictor/mage_file.h"
#include "predictor/mage_training.h"
#include "support/network_fixture.h"

namespace addp {
namespace {

using testing::kParity;
using testing::relative_error;

constexpr std::int64_t kBatch = 2;
const Grid kGrid{3, 5};

MageConfig small_config() {
  MageConfig config;
  config.vocabulary = {.codes = 40, .class_ids = 2};
  config.grid = kGrid;
  config.width = config.decoder_width = 16;
  config.depth = config.decoder_depth = 2;
  config.heads = config.decoder_heads = 4;
  return config;
}

std::shared_ptr<Mage> small_mage(const MageConfig& config = small_config()) {
  auto mage = std::make_shared<Mage>(config);
  initialise(*mage, RandomStream(1, "test"));
  return mage;
}

Tensor some_tokens(const Grid& grid) {
  return torch::arange(kBatch * grid.area(), torch::kInt64).remainder(40).view({kBatch, -1});
}

Tensor distribution(const std::filesystem::path& folder, const testing::Tensors& want,
                    HeadCounts heads) {
  const auto mage = load_predictor(folder / "mage.pth", nullptr, heads);
  const Tensor& wanted = want.at("predictor_prob_t");  // [B, K, h, w]
  const Grid grid{wanted.size(2), wanted.size(3)};
  return mage->distribution(want.at("z0_indices"), testing::as_mask(want.at("mask_t")), grid)
      .transpose(1, 2)
      .reshape(wanted.sizes());
}

TEST(Mage, MatchesTheReleasedPredictor) {
  torch::NoGradGuard no_grad;
  ADDP_FOR_EACH_NETWORK_FIXTURE(folder) {
    SCOPED_TRACE(folder);
    const auto want = testing::load_tensors(folder / "train_step.safetensors");
    const MageConfig config = load_predictor(folder / "mage.pth")->config();
    std::vector<std::pair<std::int64_t, std::int64_t>> candidates;
    for (const auto encoder :
         testing::possible_heads(folder, "predictor_heads", config.heads, config.width)) {
      for (const auto decoder : testing::possible_heads(
               folder, "predictor_decoder_heads", config.decoder_heads, config.decoder_width)) {
        candidates.emplace_back(encoder, decoder);
      }
    }
    const auto [encoder, decoder] = testing::best_fit(candidates, [&](const auto& heads) {
      return relative_error(distribution(folder, want, {heads.first, heads.second}),
                            want.at("predictor_prob_t"));
    });
    for (const bool reference : {false, true}) {
      std::optional<ReferenceArithmetic> scope;
      if (reference) scope.emplace();
      EXPECT_LT(relative_error(distribution(folder, want, {encoder, decoder}),
                               want.at("predictor_prob_t")),
                kParity);
    }
  }
}

TEST(Mage, NamesWhatAPublishedFileCarriesUnused) {
  ADDP_FOR_EACH_NETWORK_FIXTURE(folder) {
    LoadReport report;
    load_predictor(folder / "mage.pth", &report);
    EXPECT_NE(std::find(report.unused.begin(), report.unused.end(), "decoder_pred.weight"),
              report.unused.end());
    EXPECT_NE(std::find(report.unused.begin(), report.unused.end(), "mask_token"),
              report.unused.end());
  }
}

TEST(Mage, MaskedTokensAreNotLookedAt) {
  torch::NoGradGuard no_grad;
  const auto mage = small_mage();
  const Tensor masked = torch::arange(kGrid.area()).remainder(3).eq(0).expand({kBatch, -1});
  const Tensor tokens = some_tokens(kGrid);
  const Tensor other = at::where(masked, (tokens + 7).remainder(40), tokens);
  EXPECT_TRUE(
      mage->distribution(tokens, masked, kGrid).equal(mage->distribution(other, masked, kGrid)));
  EXPECT_LT(relative_error(mage->distribution(tokens, masked, kGrid).sum(-1),
                           torch::ones({kBatch, kGrid.area()})),
            1e-5);
}

TEST(Mage, OtherGridsRunForwardAndBackward) {
  const auto mage = small_mage();
  for (const Grid& grid : {Grid{4, 4}, Grid{2, 7}}) {
    const Tensor tokens = some_tokens(grid);
    const MageMask mask = sample_mage_mask(kBatch, grid.area(), {}, RandomStream(2, "mask"));
    DropoutKeys keys(RandomStream(3, "dropout"));
    mage->zero_grad();
    mage_loss(*mage, tokens, mask, grid, 0.1, &keys).backward();
    for (const auto& item : mage->named_parameters()) {
      ASSERT_TRUE(item.value().grad().defined()) << item.key();
      EXPECT_GT(item.value().grad().abs().max().item<double>(), 0) << item.key();
    }
  }
}

TEST(MageTraining, HalfIsDroppedAndAllOfItIsMasked) {
  const std::int64_t length = 64;
  for (std::uint64_t step = 0; step < 50; ++step) {
    const MageMask mask = sample_mage_mask(3, length, {}, RandomStream(1, "mask", step));
    EXPECT_EQ(mask.kept.size(1), 1 + length / 2);
    const Tensor counts = mask.masked.sum(1);
    EXPECT_TRUE((counts == counts[0]).all().item<bool>());
    EXPECT_GE(counts[0].item<std::int64_t>(), length / 2);
    EXPECT_TRUE((mask.kept.select(1, 0) == 0).all().item<bool>());
    Tensor seen = torch::zeros({3, 1 + length}, torch::kBool).scatter_(1, mask.kept, true);
    EXPECT_EQ(seen.sum().item<std::int64_t>(), 3 * (1 + length / 2)) << "a position was kept twice";
    const Tensor dropped = seen.slice(1, 1).logical_not();
    EXPECT_TRUE((dropped.logical_and(mask.masked) == dropped).all().item<bool>());
  }
}

TEST(MageTraining, AMaskDependsOnItsSampleAlone) {
  const MageMask few = sample_mage_mask(2, 20, {}, RandomStream(1, "mask"));
  const MageMask many = sample_mage_mask(5, 20, {}, RandomStream(1, "mask"));
  EXPECT_TRUE(many.masked.slice(0, 0, 2).equal(few.masked));
  EXPECT_FALSE(many.masked[0].equal(many.masked[1]));
}

TEST(MageTraining, KeepingEverythingEqualsThePredictor) {
  torch::NoGradGuard no_grad;
  const auto mage = small_mage();
  const Tensor tokens = some_tokens(kGrid);
  const Tensor masked = torch::arange(kGrid.area()).remainder(2).eq(0).expand({kBatch, -1});
  const Tensor all = torch::arange(1 + kGrid.area()).expand({kBatch, -1});
  EXPECT_LT(relative_error(mage->features(tokens, masked, kGrid, nullptr, all),
                           mage->features(tokens, masked, kGrid)),
            1e-6);
}

TEST(MageTraining, DropoutComesFromTheStream) {
  torch::NoGradGuard no_grad;
  const auto mage = small_mage();
  const Tensor tokens = some_tokens(kGrid);
  const MageMask mask = sample_mage_mask(kBatch, kGrid.area(), {}, RandomStream(2, "mask"));
  const auto loss = [&](std::uint64_t seed) {
    DropoutKeys keys(RandomStream(seed, "dropout"));
    return mage_loss(*mage, tokens, mask, kGrid, 0.1, &keys).item<float>();
  };
  EXPECT_EQ(loss(1), loss(1));
  EXPECT_NE(loss(1), loss(2));
}

TEST(Mage, PresetsHaveTheTablesSizes) {
  const MageConfig base = mage_preset("base", {}, {});
  EXPECT_EQ(base.width, 768);
  EXPECT_EQ(base.decoder_heads, 16);
  const MageConfig large = mage_preset("large", {}, {});
  EXPECT_EQ(large.depth, 24);
  EXPECT_THROW(mage_preset("huge", {}, {}), UsageError);
}

TEST(Mage, Bf16StaysNear) {
  torch::NoGradGuard no_grad;
  const auto mage = small_mage();
  const Tensor tokens = some_tokens(kGrid),
               masked = torch::zeros({kBatch, kGrid.area()}, torch::kBool);
  const Tensor full = mage->distribution(tokens, masked, kGrid);
  const Bf16Scope scope(true);
  EXPECT_LT(relative_error(mage->distribution(tokens, masked, kGrid), full), 0.05);
}

}  // namespace
}  // namespace addp
