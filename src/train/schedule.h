// The learning rate over a run: linear warm-up, then half a cosine, by iteration.
#pragma once

#include <cstdint>

#include "train/options.h"

namespace addp {

struct Schedule {
  double peak = 0;
  double minimum = 0;
  std::int64_t warmup = 0;  // steps
  std::int64_t total = 0;   // steps

  double at(std::int64_t step) const;
};

// The run's length and rates from the options; a UsageError if neither steps nor epochs are given.
Schedule make_schedule(const TrainOptions& options, std::int64_t steps_per_epoch);

}  // namespace addp
