#include "diffusion/mask_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "nn/torch.h"

namespace addp {
namespace {

double cosine_ratio(double k, std::int64_t steps) {
  return std::cos(std::numbers::pi / 2 * k / static_cast<double>(steps));
}

void check(const MaskRatioOptions& o) {
  if (o.steps < 1) throw UsageError("{} diffusion steps: give at least 1", o.steps);
  if (o.deviation <= 0) {
    throw UsageError("a mask ratio deviation of {}: give a positive number", o.deviation);
  }
  if (o.delta_low < 0 || o.delta_high < o.delta_low) {
    throw UsageError("delta-t from {} to {}: give 0 <= low <= high", o.delta_low, o.delta_high);
  }
  if (o.fixed < 0 || o.fixed > 1) {
    throw UsageError("a fixed mask ratio of {}: give a number from 0 (off) to 1", o.fixed);
  }
}

}  // namespace

MaskSchedule::MaskSchedule(const MaskRatioOptions& options) : options_(options) {
  check(options);
  double total = 0;
  for (std::int64_t k = options.steps; k >= 0; --k) {
    const double ratio = static_cast<float>(cosine_ratio(static_cast<double>(k), options.steps));
    if (ratio < options.lowest || ratio >= options.highest) continue;
    const double z = (ratio - options.mean) / options.deviation;
    ratios_.push_back(ratio);
    probabilities_.push_back(std::exp(-z * z / 2));
    total += probabilities_.back();
  }
  if (ratios_.empty()) {
    throw UsageError("no mask ratio of {} steps lies in [{}, {}): widen it or take more steps",
                     options.steps, options.lowest, options.highest);
  }
  for (double& probability : probabilities_) probability /= total;
}

RatioPair MaskSchedule::sample(Condition condition, RandomStream stream) const {
  const auto index = static_cast<std::int64_t>(stream.categorical(probabilities_));
  const std::int64_t distance = stream.integer(options_.delta_low, options_.delta_high);
  const std::int64_t step = condition == Condition::kNext ? distance : -distance;
  if (options_.fixed > 0) {
    // The neighbour lies as far from the fixed ratio on the cosine as it would from a ratio
    // of the table.
    const double k =
        std::acos(options_.fixed) * 2 / std::numbers::pi * static_cast<double>(options_.steps);
    const double other =
        std::clamp(k - static_cast<double>(step), 0.0, static_cast<double>(options_.steps));
    return {options_.fixed, cosine_ratio(other, options_.steps)};
  }
  const std::int64_t last = static_cast<std::int64_t>(ratios_.size()) - 1;
  const std::int64_t other = std::clamp<std::int64_t>(index + step, 0, last);
  return {ratios_[static_cast<std::size_t>(index)], ratios_[static_cast<std::size_t>(other)]};
}

std::int64_t masked_count(std::int64_t length, double ratio) {
  const double count =
      std::ceil(static_cast<double>(static_cast<float>(ratio)) * static_cast<double>(length));
  return std::clamp<std::int64_t>(std::llround(count), 0, length);
}

MaskPair sample_masks(std::int64_t batch, std::int64_t length, const RatioPair& ratios,
                      const RandomStream& stream, std::int64_t first) {
  MaskPair masks{torch::zeros({batch, length}, torch::kBool),
                 torch::zeros({batch, length}, torch::kBool)};
  const std::pair<Tensor*, double> parts[] = {{&masks.current, ratios.current},
                                              {&masks.neighbour, ratios.neighbour}};
  for (std::int64_t sample = 0; sample < batch; ++sample) {
    const auto order =
        stream.fork("positions", static_cast<std::uint64_t>(first + sample)).permutation(length);
    for (const auto& [mask, ratio] : parts) {
      auto flags = mask->accessor<bool, 2>();
      const std::int64_t count = masked_count(length, ratio);
      for (std::int64_t i = 0; i < count; ++i)
        flags[sample][order[static_cast<std::size_t>(i)]] = true;
    }
  }
  return masks;
}

}  // namespace addp
