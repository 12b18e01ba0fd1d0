// Which share of the tokens is masked at a step of training, and which tokens.
#pragma once

#include <vector>

#include "base/random.h"
#include "diffusion/options.h"
#include "nn/types.h"

namespace addp {

// Mask ratios of z_t and of its neighbour: z_{t+1}, or z_{t-1} where the condition is kSame.
struct RatioPair {
  double current = 0;
  double neighbour = 0;
};

class MaskSchedule {
 public:
  explicit MaskSchedule(const MaskRatioOptions& options);

  // cos(pi/2 k/T) within [lowest, highest), ascending, with their probabilities.
  const std::vector<double>& ratios() const { return ratios_; }
  const std::vector<double>& probabilities() const { return probabilities_; }

  // One pair per batch.
  RatioPair sample(Condition condition, RandomStream stream) const;

 private:
  MaskRatioOptions options_;
  std::vector<double> ratios_, probabilities_;
};

// ceil(length * ratio), the same in every implementation that keeps ratios in float32.
std::int64_t masked_count(std::int64_t length, double ratio);

// [B, L] bool. Both masks of a sample come from one random order of its positions, so the smaller
// lies inside the larger. `first` is the number of the first sample in the batch of all processes.
struct MaskPair {
  Tensor current;
  Tensor neighbour;

  MaskPair to(torch::Device device) const { return {current.to(device), neighbour.to(device)}; }
};
MaskPair sample_masks(std::int64_t batch, std::int64_t length, const RatioPair& ratios,
                      const RandomStream& stream, std::int64_t first = 0);

}  // namespace addp
