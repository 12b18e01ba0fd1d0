// What libaddp.so exports to the program: the bodies of its commands, by the type of their options.
#include <c10/util/Exception.h>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "commands/library/run_in_library.h"
#include "stages/generative/addp_stage.h"
#include "stages/generative/predictor_stage.h"
#include "stages/generative/tokenizer_stage.h"
#include "stages/recognition/classifier_stage.h"
#include "stages/recognition/detector_stage.h"
#include "stages/recognition/probe_stage.h"
#include "stages/recognition/segmenter_stage.h"
#include "train/run_training.h"

namespace addp {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

template <class StageType, class TrainingOptions>
void train_stage(const TrainingOptions& options, const RunContext& context) {
  run_training(options.train, context,
               [&](World& world) { return std::make_unique<StageType>(options, world); });
}

void run_body(const LibraryOptions& options, const RunContext& c) {
  std::visit(Overloaded{
                 [&](const TokenizerTrainOptions& o) { train_stage<TokenizerStage>(o, c); },
                 [&](const PredictorTrainOptions& o) { train_stage<PredictorStage>(o, c); },
                 [&](const AddpTrainOptions& o) { train_stage<AddpStage>(o, c); },
                 [&](const ClassifierTrainOptions& o) { train_stage<ClassifierStage>(o, c); },
                 [&](const ProbeTrainOptions& o) { train_stage<ProbeStage>(o, c); },
                 [&](const SegmenterTrainOptions& o) { train_stage<SegmenterStage>(o, c); },
                 [&](const DetectorTrainOptions& o) { train_stage<DetectorStage>(o, c); },
                 [&](const auto& o) { run(o, c); },
             },
             options);
}

}  // namespace
}  // namespace addp

extern "C" const char* addp_library_build() { return addp::version().data(); }

extern "C" void addp_library_run(const addp::LibraryOptions& options,
                                 const addp::RunContext& context) {
  try {
    addp::run_body(options, context);
  } catch (const c10::Error& error) {
    const std::string text = addp::first_line(error.what_without_backtrace());
    if (text.find("not enough memory") != std::string::npos) {
      throw addp::RuntimeError("out of memory: {}; use a smaller batch, picture or model", text);
    }
    throw addp::RuntimeError("libtorch: {}", text);
  }
}
