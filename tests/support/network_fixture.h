// The released networks of a fixture folder with their recorded answers. All sizes come from the
// files. The number of heads leaves no trace in them: candidates are tried against the recorded
// outputs, and the comparison in the test then holds for the one that fits best.
#pragma once

#include <limits>

#include "support/fixtures.h"
#include "support/torch_fixtures.h"

namespace addp::testing {

// float32 agreement asked of every network.
inline constexpr double kParity = 1e-4;

using Tensors = std::map<std::string, torch::Tensor>;

inline std::vector<std::int64_t> possible_heads(std::int64_t usual, std::int64_t width) {
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
#define ADDP_FOR_EACH_NETWORK_FIXTURE(folder)                                             \
  if (::addp::testing::network_fixtures().empty()) GTEST_SKIP() << "no network fixtures"; \
  for (const std::filesystem::path& folder : ::addp::testing::network_fixtures())
