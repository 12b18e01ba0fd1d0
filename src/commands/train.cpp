#include "commands/train.h"

#include "train/addp_stage.h"
#include "train/classifier_stage.h"
#include "train/detector_stage.h"
#include "train/predictor_stage.h"
#include "train/probe_stage.h"
#include "train/run_training.h"
#include "train/segmenter_stage.h"
#include "train/tokenizer_stage.h"

namespace addp {
namespace {

template <class StageType, class OptionsStruct>
void run_stage(const OptionsStruct& options, const RunContext& context) {
  run_training(options.train, context,
               [&](World& world) { return std::make_unique<StageType>(options, world); });
}

}  // namespace

void run_train_tokenizer(const TokenizerTrainOptions& options, const RunContext& context) {
  run_stage<TokenizerStage>(options, context);
}

void run_train_predictor(const PredictorTrainOptions& options, const RunContext& context) {
  run_stage<PredictorStage>(options, context);
}

void run_train_addp(const AddpTrainOptions& options, const RunContext& context) {
  run_stage<AddpStage>(options, context);
}

void run_train_classifier(const ClassifierTrainOptions& options, const RunContext& context) {
  run_stage<ClassifierStage>(options, context);
}

void run_train_probe(const ProbeTrainOptions& options, const RunContext& context) {
  run_stage<ProbeStage>(options, context);
}

void run_train_segmenter(const SegmenterTrainOptions& options, const RunContext& context) {
  run_stage<SegmenterStage>(options, context);
}

void run_train_detector(const DetectorTrainOptions& options, const RunContext& context) {
  run_stage<DetectorStage>(options, context);
}

}  // namespace addp
