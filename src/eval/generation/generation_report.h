// All figures of a generated set against a reference, each with the protocol it was measured by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eval/generation/feature_set.h"

namespace addp {

// Below this many pictures FID is biased upwards so much that figures of different sizes do not
// compare (Heusel et al. recommend 10,000 as the least).
inline constexpr std::int64_t kUnbiasedPictures = 10'000;

struct GenerationOptions {
  std::int64_t neighbours = 3;  // of precision and recall
  std::int64_t splits = 10;     // of the Inception Score
  std::uint64_t seed = 0;       // of the halves below
};

struct GenerationFigures {
  double fid = 0;
  // Absent where a side has statistics only (an .npz of other tools) or too few pictures.
  std::optional<double> kid;
  std::optional<PrecisionRecall> manifold;
  // FID between two random halves of the reference: what equal distributions measure at that size.
  std::optional<double> reference_to_itself;
  std::int64_t half_size = 0;
  // Sentences for people: network and its hash, resize, numbers of pictures, reference,
  // and the warning.
  std::vector<std::string> protocol;
};

// Sets made with different networks are a UsageError.
GenerationFigures compare_sets(const FeatureSet& generated, const FeatureSet& reference,
                               const GenerationOptions& options = {});

// A UsageError says what is missing where the network had no `fc` layer.
MeanDeviation inception_score_of(const FeatureSet& generated,
                                 std::int64_t splits = kInceptionScoreSplits);

}  // namespace addp
