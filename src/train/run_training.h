// From the options of `addp train ...` to a finished run: processes, threads, the
// stage, the result.
#pragma once

#include <functional>
#include <memory>

#include "train/trainer.h"

namespace addp {

using MakeStage = std::function<std::unique_ptr<Stage>(World&)>;

// With --processes, starts the ranks and waits for them; otherwise trains in this process. Prints
// the figures of the final evaluation and where the model is.
void run_training(const TrainOptions& options, const RunContext& context, const MakeStage& make);

}  // namespace addp
