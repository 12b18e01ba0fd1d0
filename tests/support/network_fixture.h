// The released networks of a fixture folder with their recorded answers. All sizes come from the
// files. What leaves no trace in them (numbers of heads, T) is recorded in the folder's facts.json:
// the networks are then loaded as any published file is, and our defaults must be these numbers. In
// a folder without a record, candidates are tried against the outputs, and the comparison in the
// test holds for the one that fits best.
#pragma once

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "support/fixtures.h"
#include "support/torch_fixtures.h"

namespace addp::testing {

// float32 agreement asked of every network.
inline constexpr double kParity = 1e-4;

using Tensors = std::map<std::string, torch::Tensor>;

inline nlohmann::json recorded_facts(const std::filesystem::path& folder) {
  std::ifstream file(folder / "facts.json");
  return file ? nlohmann::json::parse(file) : nlohmann::json::object();
}

// `usual` is what our program takes without being told.
inline std::vector<std::int64_t> possible_heads(const std::filesystem::path& folder,
                                                const char* fact, std::int64_t usual,
                                                std::int64_t width) {
  const auto facts = recorded_facts(folder);
  if (facts.contains(fact)) {
    EXPECT_EQ(usual, facts.at(fact).get<std::int64_t>()) << fact;
    return {usual};
  }
  std::vector<std::int64_t> heads = {usual};
  for (const std::int64_t count : {1, 2, 3, 4, 6, 8, 12, 16}) {
    if (width % count == 0 && count != usual) heads.push_back(count);
  }
  return heads;
}

// The candidate whose `error` is smallest; stops at the first that is clearly right.
template <class Candidate, class Error>
Candidate best_fit(const std::vector<Candidate>& candidates, const Error& error) {
  Candidate best = candidates.front();
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates) {
    const double distance = error(candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
    if (least < kParity) break;
  }
  return best;
}

// Masks are stored as 0 and 1 in float.
inline torch::Tensor as_mask(const torch::Tensor& stored) { return stored > 0.5; }

}  // namespace addp::testing

// Runs a test body for every folder of network fixtures: `folder` is its path.
#define ADDP_FOR_EACH_NETWORK_FIXTURE(folder)                                                 \
  if (::addp::testing::network_fixtures().empty()) GTEST_SKIP() << "needs fixture addp-mini"; \
  for (const std::filesystem::path& folder : ::addp::testing::network_fixtures())
