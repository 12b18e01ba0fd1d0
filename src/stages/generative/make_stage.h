// The stages that learn to generate, by the options that describe them.
#pragma once

#include <memory>

#include "stages/generative/addp_options.h"
#include "stages/generative/distil_options.h"
#include "stages/generative/predictor_options.h"
#include "stages/generative/tokenizer_options.h"
#include "train/stage.h"

namespace addp {

std::unique_ptr<Stage> make_stage(const TokenizerTrainOptions& options, World& world);
std::unique_ptr<Stage> make_stage(const PredictorTrainOptions& options, World& world);
std::unique_ptr<Stage> make_stage(const AddpTrainOptions& options, World& world);
std::unique_ptr<Stage> make_stage(const DistilOptions& options, World& world);

}  // namespace addp
