// The choices of the diffusion process that the paper ablates. Defaults are the paper's.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace addp {

// f in x_t = VQ-Decoder(z_t (1 - m_t) + f(q(z | ...)) m_t).
enum class Mapping { kWeightedSum, kArgMax, kSampling };
inline std::vector<std::pair<std::string, Mapping>> mapping_names() {
  return {{"weighted-sum", Mapping::kWeightedSum},
          {"argmax", Mapping::kArgMax},
          {"sampling", Mapping::kSampling}};
}

// What the unreliable tokens of step t depend on: q(z_t | z_{t+1}) (kNext), or q(z_t | z_t)
// (kSame).
enum class Condition { kNext, kSame };

// Where the reliable tokens enter the network besides the pixels.
enum class TokenInput { kDecoder, kEncoderAndDecoder, kNone };

// What the decoder learns at unreliable positions: the predictor's distribution, the true token, or
// the mean of both.
enum class Target { kPredictor, kTruth, kBoth };

struct MaskRatioOptions {
  std::int64_t steps = 100;  // T; the ratios are cos(pi/2 k/T)
  double mean = 0.55;        // their probability is a truncated normal's density ...
  double deviation = 0.25;
  double lowest = 0.5;  // ... over [lowest, highest)
  double highest = 1.0;
  double fixed = 0;            // above 0: this ratio always
  std::int64_t delta_low = 1;  // z_{t+1} is so many of the ratios further, uniform in this range
  std::int64_t delta_high = 5;
};

struct DiffusionOptions {
  Mapping mapping = Mapping::kWeightedSum;
  Condition condition = Condition::kNext;
  Target target = Target::kPredictor;
  MaskRatioOptions mask{};
  double label_smoothing = 0.1;
  // The released program leaves the frozen predictor's dropout active while ADDP trains.
  bool predictor_dropout = false;
};

}  // namespace addp
