// Mask ratios against the released table, and what must hold for the masks.
#include "diffusion/mask_schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "checkpoint/layout/checkpoint.h"
#include "diffusion/mapping.h"
#include "nn/torch.h"
#include "support/network_fixture.h"

namespace addp {
namespace {

// The sampled settings lie in the checkpoint's arguments, the number of steps in the recorded
// facts, where it must be our default. In a folder without them the table's lowest ratio tells it.
MaskRatioOptions options_of(const std::filesystem::path& folder,
                            const std::vector<double>& ratios) {
  MaskRatioOptions options;
  const auto metadata = open_checkpoint(folder / "addp.pth").metadata;
  const auto arguments = metadata.value("args", nlohmann::json::object());
  options.mean = arguments.value("mask_ratio_mu", options.mean);
  options.deviation = arguments.value("mask_ratio_std", options.deviation);
  options.lowest = arguments.value("mask_ratio_min", options.lowest);
  options.highest = arguments.value("mask_ratio_max", options.highest);
  const auto facts = testing::recorded_facts(folder);
  if (facts.contains("timesteps")) {
    EXPECT_EQ(options.steps, facts.at("timesteps").get<std::int64_t>());
    return options;
  }
  double nearest = 1;
  for (std::int64_t steps = 2; steps <= 1000; ++steps) {
    MaskRatioOptions candidate = options;
    candidate.steps = steps;
    const MaskSchedule schedule(candidate);
    if (schedule.ratios().size() != ratios.size()) continue;
    const double distance = std::abs(schedule.ratios().front() - ratios.front());
    if (distance < nearest) {
      nearest = distance;
      options.steps = steps;
    }
  }
  return options;
}

TEST(MaskSchedule, MatchesTheReleasedTable) {
  ADDP_FOR_EACH_NETWORK_FIXTURE(folder) {
    SCOPED_TRACE(folder);
    std::ifstream file(folder / "mask_ratio.json");
    const auto json = nlohmann::json::parse(file);
    const auto ratios = json.at("mask_ratio").get<std::vector<double>>();
    const auto probabilities = json.at("probability").get<std::vector<double>>();
    const MaskSchedule schedule(options_of(folder, ratios));
    ASSERT_EQ(schedule.ratios().size(), ratios.size());
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      EXPECT_NEAR(schedule.ratios()[i], ratios[i], 1e-6);
      EXPECT_NEAR(schedule.probabilities()[i], probabilities[i], 1e-4 * probabilities[i]);
    }
  }
}

TEST(MaskSchedule, NeighboursAreDeltaEntriesAway) {
  const MaskSchedule schedule({});
  const auto& table = schedule.ratios();
  const auto place = [&](double ratio) {
    return std::lower_bound(table.begin(), table.end(), ratio) - table.begin();
  };
  const auto last = static_cast<std::ptrdiff_t>(table.size()) - 1;
  std::vector<int> seen(6);
  for (std::uint64_t step = 0; step < 500; ++step) {
    const RatioPair next = schedule.sample(Condition::kNext, RandomStream(1, "ratio", step));
    const auto distance = place(next.neighbour) - place(next.current);
    EXPECT_LE(distance, 5);
    EXPECT_GE(distance, place(next.current) == last ? 0 : 1);
    ++seen[static_cast<std::size_t>(distance)];
    const RatioPair same = schedule.sample(Condition::kSame, RandomStream(1, "ratio", step));
    EXPECT_EQ(same.current, next.current);
    EXPECT_LE(same.neighbour, same.current);
  }
  for (std::size_t distance = 1; distance <= 5; ++distance) EXPECT_GT(seen[distance], 50);
}

TEST(MaskSchedule, FrequenciesFollowTheTable) {
  const MaskSchedule schedule({});
  double mean = 0, wanted = 0;
  constexpr std::uint64_t kDraws = 4000;
  for (std::uint64_t step = 0; step < kDraws; ++step) {
    mean += schedule.sample(Condition::kNext, RandomStream(5, "ratio", step)).current / kDraws;
  }
  for (std::size_t i = 0; i < schedule.ratios().size(); ++i) {
    wanted += schedule.ratios()[i] * schedule.probabilities()[i];
  }
  EXPECT_NEAR(mean, wanted, 0.01);
}

TEST(MaskSchedule, AFixedRatioStays) {
  const MaskSchedule schedule({.fixed = 0.5});
  for (std::uint64_t step = 0; step < 20; ++step) {
    const RatioPair ratios = schedule.sample(Condition::kNext, RandomStream(1, "ratio", step));
    EXPECT_EQ(ratios.current, 0.5);
    EXPECT_GT(ratios.neighbour, 0.5);
    EXPECT_LT(ratios.neighbour, 0.58);
  }
}

TEST(MaskSchedule, SenselessOptionsAreRefused) {
  EXPECT_THROW(MaskSchedule({.steps = 0}), UsageError);
  EXPECT_THROW(MaskSchedule({.lowest = 0.9, .highest = 0.8}), UsageError);
  EXPECT_THROW(MaskSchedule({.delta_low = 3, .delta_high = 2}), UsageError);
  EXPECT_THROW(MaskSchedule({.fixed = 1.5}), UsageError);
}

TEST(Masks, NestAndHaveTheirCounts) {
  for (const std::int64_t length : {15, 64, 256}) {
    const RatioPair ratios{0.61, 0.83};
    const MaskPair masks = sample_masks(4, length, ratios, RandomStream(1, "masks"));
    EXPECT_TRUE(masks.current.logical_and(masks.neighbour).equal(masks.current));
    for (std::int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(masks.current[i].sum().item<std::int64_t>(), masked_count(length, 0.61));
      EXPECT_EQ(masks.neighbour[i].sum().item<std::int64_t>(), masked_count(length, 0.83));
    }
    const MaskPair fewer = sample_masks(2, length, ratios, RandomStream(1, "masks"));
    EXPECT_TRUE(masks.current.slice(0, 0, 2).equal(fewer.current)) << "depends on the batch";
  }
  EXPECT_EQ(masked_count(256, 0.5), 128);
  EXPECT_EQ(masked_count(256, 0.5001), 129);
  EXPECT_EQ(masked_count(256, 0.99988), 256);
}

TEST(Mapping, EachFunctionGivesItsEmbeddings) {
  const Tensor codebook = torch::eye(3);
  const Tensor probabilities = torch::tensor({{{0.2F, 0.5F, 0.3F}, {1.0F, 0.0F, 0.0F}}});
  EXPECT_TRUE(
      map_to_embeddings(Mapping::kWeightedSum, probabilities, codebook).equal(probabilities));
  EXPECT_TRUE(map_to_embeddings(Mapping::kArgMax, probabilities, codebook)
                  .equal(torch::tensor({{{0.F, 1.F, 0.F}, {1.F, 0.F, 0.F}}})));
  const Tensor uniform = torch::tensor({{0.71F, 0.999999F}});
  EXPECT_TRUE(map_to_embeddings(Mapping::kSampling, probabilities, codebook, uniform)
                  .equal(torch::tensor({{{0.F, 0.F, 1.F}, {1.F, 0.F, 0.F}}})));
}

TEST(Mapping, SamplesFollowTheDistribution) {
  const Tensor probabilities = torch::tensor({0.1F, 0.0F, 0.6F, 0.3F}).expand({1, 20000, 4});
  Tensor uniform = torch::empty({1, 20000});
  RandomStream(1, "draws").fill_uniform({uniform.data_ptr<float>(), 20000});
  const Tensor counts = sample_codes(probabilities, uniform).flatten().bincount({}, 4);
  EXPECT_EQ(counts[1].item<std::int64_t>(), 0);
  EXPECT_NEAR(counts[2].item<double>() / 20000, 0.6, 0.02);
  EXPECT_NEAR(counts[0].item<double>() / 20000, 0.1, 0.02);
}

}  // namespace
}  // namespace addp
