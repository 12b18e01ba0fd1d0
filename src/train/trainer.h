// The one training loop of every stage: schedule, checkpoints, exact resume, records, evaluation.
//
// - OUT/last.safetensors: everything a resume needs, written atomically; OUT/previous.safetensors:
//   the one before it, which a resume takes where the last one is damaged;
// - OUT/best.safetensors: the model with the best evaluation;
// - OUT/step-N.safetensors: kept for good, every --keep-every steps;
// - OUT/model.safetensors: the model as other commands load it (averaged weights where there are
//   any);
// - OUT/config.toml, log.jsonl, tensorboard/, pictures/, index.html.
//
// N + M steps give, bit for bit, what N steps, a kill -9 and M steps give: the state is saved
// whole, and all randomness is drawn from (seed, step).
#pragma once

#include "base/run/run_context.h"
#include "processes/distributed.h"
#include "train/stage.h"

namespace addp {

// Returns the metrics of the last evaluation. Throws InterruptedError after saving when an
// interrupt is asked for, NonFiniteError without saving, so that the last good checkpoint stays.
Metrics train(Stage& stage, const TrainOptions& options, World& world, const RunContext& context);

}  // namespace addp
