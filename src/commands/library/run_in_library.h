// The seam between the program and libaddp.so. Options are filled in the program, which does not
// link libtorch, so that help and mistakes answer at once; the bodies that need libtorch are in the
// library, which is loaded when one of them runs. Both sides see this one type, so that a command
// without a body does not compile.
#pragma once

#include <variant>

#include "base/run/run_context.h"
#include "commands/machine/bench_generate.h"
#include "commands/machine/bench_growth.h"
#include "commands/machine/bench_images.h"
#include "commands/machine/bench_train.h"
#include "commands/machine/preset_report.h"
#include "commands/make/generate.h"
#include "commands/make/inpaint.h"
#include "commands/make/visualize.h"
#include "commands/measure/check_model.h"
#include "commands/measure/eval_classification.h"
#include "commands/measure/eval_copies.h"
#include "commands/measure/eval_detection.h"
#include "commands/measure/eval_fid.h"
#include "commands/measure/eval_robustness.h"
#include "commands/measure/eval_segmentation.h"
#include "commands/measure/eval_tokenizer.h"
#include "commands/recognise/classify.h"
#include "commands/recognise/detect.h"
#include "commands/recognise/features.h"
#include "commands/recognise/segment.h"
#include "commands/serve/bench_serve.h"
#include "commands/serve/serve.h"
#include "commands/start/demo.h"
#include "stages/generative/addp_options.h"
#include "stages/generative/distil_options.h"
#include "stages/generative/predictor_options.h"
#include "stages/generative/tokenizer_options.h"
#include "stages/recognition/classifier_options.h"
#include "stages/recognition/detector_options.h"
#include "stages/recognition/segmenter_options.h"

namespace addp {

// The options of every command whose body is in libaddp.so.
using LibraryOptions =
    std::variant<DemoOptions, TokenizerTrainOptions, PredictorTrainOptions, AddpTrainOptions,
                 DistilOptions, ClassifierTrainOptions, ProbeTrainOptions, SegmenterTrainOptions,
                 DetectorTrainOptions, GenerateOptions, InpaintOptions, VisualizeOptions,
                 ClassifyOptions, DetectOptions, SegmentOptions, FeaturesOptions, EvalFidOptions,
                 EvalTokenizerOptions, EvalCopiesOptions, EvalClassificationOptions,
                 EvalRobustnessOptions, EvalDetectionOptions, EvalSegmentationOptions,
                 PresetReportOptions, CheckModelOptions, BenchImagesOptions, BenchGenerateOptions,
                 BenchTrainOptions, BenchGrowthOptions, ServeOptions, BenchServeOptions>;

void run_in_library(const LibraryOptions& options, const RunContext& context);

// What libaddp.so exports: its build, which must be the program's, and the one function.
inline constexpr const char* kLibraryBuild = "addp_library_build";
inline constexpr const char* kLibraryRun = "addp_library_run";
using LibraryBuild = const char* (*)();
using LibraryRun = void (*)(const LibraryOptions& options, const RunContext& context);

}  // namespace addp
