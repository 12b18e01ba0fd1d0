// Commands that run trained networks over pictures, and those that measure what they say.
#pragma once

#include "base/run_context.h"
#include "commands/recognition_options.h"

namespace addp {

void run_classify(const ClassifyOptions& options, const RunContext& context);
void run_features(const FeaturesOptions& options, const RunContext& context);
void run_eval_classification(const EvalClassificationOptions& options, const RunContext& context);
void run_eval_detection(const EvalDetectionOptions& options, const RunContext& context);
void run_eval_segmentation(const EvalSegmentationOptions& options, const RunContext& context);
void run_eval_robustness(const EvalRobustnessOptions& options, const RunContext& context);

}  // namespace addp
