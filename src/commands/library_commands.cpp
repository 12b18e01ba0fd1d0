// The bodies that libaddp.so holds, by the name of their command.
#include <c10/util/Exception.h>

#include <map>
#include <string>

#include "base/error.h"
#include "commands/demo.h"
#include "commands/detect.h"
#include "commands/doctor_preset.h"
#include "commands/library_entry.h"
#include "commands/segment.h"
#include "commands/train.h"

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
      {"train tokenizer", call<TokenizerTrainOptions, run_train_tokenizer>},
      {"train predictor", call<PredictorTrainOptions, run_train_predictor>},
      {"train addp", call<AddpTrainOptions, run_train_addp>},
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
