#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace addp {

double Schedule::at(std::int64_t step) const {
  if (step < warmup) return peak * static_cast<double>(step) / static_cast<double>(warmup);
  const double rest = static_cast<double>(std::max<std::int64_t>(1, total - warmup));
  const double share = std::min(1.0, static_cast<double>(step - warmup) / rest);
  return minimum + (peak - minimum) * 0.5 * (1 + std::cos(std::numbers::pi * share));
}

Schedule make_schedule(const TrainOptions& options, std::int64_t steps_per_epoch) {
  const auto from_epochs = [&](double epochs) {
    return static_cast<std::int64_t>(std::llround(epochs * static_cast<double>(steps_per_epoch)));
  };
  Schedule schedule;
  schedule.total = options.steps > 0 ? options.steps : from_epochs(options.epochs);
  if (schedule.total < 1) throw UsageError("say how long to train: --steps or --epochs");
  schedule.warmup =
      options.warmup_steps > 0 ? options.warmup_steps : from_epochs(options.warmup_epochs);
  schedule.warmup = std::min(schedule.warmup, schedule.total);
  schedule.peak =
      options.lr > 0 ? options.lr : options.blr * static_cast<double>(options.batch_size) / 256.0;
  schedule.minimum = options.min_lr;
  return schedule;
}

}  // namespace addp
