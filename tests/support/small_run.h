// The settings that short trainings of tests share.
#pragma once

#include <filesystem>

#include "base/log.h"
#include "base/run/progress.h"
#include "train/options.h"

namespace addp::testing {

// A few steps on small pictures of the procedural set, without a word.
inline void set_small_run(TrainOptions& train, const std::filesystem::path& out,
                          std::int64_t steps) {
  set_progress_quiet(true);
  set_log_quiet(true);
  train.data = "shapes:size=32,count=16,val=4,seed=1";
  train.out = out;
  train.size = 32;
  train.batch_size = 4;
  train.steps = steps;
  train.lr = 1e-3;
  train.workers = 1;
  train.precision = Precision::kFloat32;  // tests compare to a few digits more than bfloat16 has
}

}  // namespace addp::testing
