// addp train ...: one body a stage.
#pragma once

#include "base/run_context.h"
#include "train/addp_options.h"
#include "train/classifier_options.h"
#include "train/detector_options.h"
#include "train/predictor_options.h"
#include "train/segmenter_options.h"
#include "train/tokenizer_options.h"

namespace addp {

void run_train_tokenizer(const TokenizerTrainOptions& options, const RunContext& context);
void run_train_predictor(const PredictorTrainOptions& options, const RunContext& context);
void run_train_addp(const AddpTrainOptions& options, const RunContext& context);
void run_train_classifier(const ClassifierTrainOptions& options, const RunContext& context);
void run_train_probe(const ProbeTrainOptions& options, const RunContext& context);
void run_train_segmenter(const SegmenterTrainOptions& options, const RunContext& context);
void run_train_detector(const DetectorTrainOptions& options, const RunContext& context);

}  // namespace addp
