// The bodies that libaddp.so holds, by the name of their command.
#include <c10/util/Exception.h>

#include <map>
#include <string>

#include "base/error.h"
#include "commands/bench_generate.h"
#include "commands/bench_train.h"
#include "commands/demo.h"
#include "commands/detect.h"
#include "commands/doctor_preset.h"
#include "commands/eval_fid.h"
#include "commands/eval_tokenizer.h"
#include "commands/generate.h"
#include "commands/inpaint.h"
#include "commands/library_entry.h"
#include "commands/recognition.h"
#include "commands/segment.h"
#include "commands/train.h"
#include "commands/visualize.h"

namespace addp {
namespace {

// libtorch's own errors carry a stack trace; people need the first line.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

template <class OptionsStruct, void (*Body)(const OptionsStruct&, const RunContext&)>
void call(const void* options, const RunContext& context) {
  try {
    Body(*static_cast<const OptionsStruct*>(options), context);
  } catch (const c10::Error& error) {
    const std::string text = first_line(error.what_without_backtrace());
    if (text.find("not enough memory") != std::string::npos) {
      throw RuntimeError("out of memory: {}; use a smaller batch, picture or model", text);
    }
    throw RuntimeError("libtorch: {}", text);
  }
}

const std::map<std::string, LibraryBody>& bodies() {
  static const std::map<std::string, LibraryBody> table = {
      {"demo", call<DemoOptions, run_demo>},
      {"doctor preset", call<DoctorOptions, run_doctor_preset>},
      {"generate", call<GenerateOptions, run_generate>},
      {"inpaint", call<InpaintOptions, run_inpaint>},
      {"visualize", call<VisualizeOptions, run_visualize>},
      {"eval fid", call<EvalFidOptions, run_eval_fid>},
      {"eval tokenizer", call<EvalTokenizerOptions, run_eval_tokenizer>},
      {"bench train", call<BenchTrainOptions, run_bench_train>},
      {"bench generate", call<BenchGenerateOptions, run_bench_generate>},
      {"train tokenizer", call<TokenizerTrainOptions, run_train_tokenizer>},
      {"train predictor", call<PredictorTrainOptions, run_train_predictor>},
      {"train addp", call<AddpTrainOptions, run_train_addp>},
      {"train classifier", call<ClassifierTrainOptions, run_train_classifier>},
      {"train probe", call<ProbeTrainOptions, run_train_probe>},
      {"classify", call<ClassifyOptions, run_classify>},
      {"features", call<FeaturesOptions, run_features>},
      {"eval classification", call<EvalClassificationOptions, run_eval_classification>},
      {"eval detection", call<EvalDetectionOptions, run_eval_detection>},
      {"eval segmentation", call<EvalSegmentationOptions, run_eval_segmentation>},
      {"eval robustness", call<EvalRobustnessOptions, run_eval_robustness>},
      {"train segmenter", call<SegmenterTrainOptions, run_train_segmenter>},
      {"train detector", call<DetectorTrainOptions, run_train_detector>},
      {"detect", call<DetectCommandOptions, run_detect>},
      {"segment", call<SegmentCommandOptions, run_segment>},
  };
  return table;
}

}  // namespace
}  // namespace addp

extern "C" addp::LibraryBody addp_find_command(const char* name) {
  const auto it = addp::bodies().find(name);
  return it == addp::bodies().end() ? nullptr : it->second;
}
