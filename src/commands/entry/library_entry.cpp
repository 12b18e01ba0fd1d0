// What libaddp.so exports to the program: the bodies of its commands, by the type of their options.
#include <c10/util/Exception.h>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "commands/library/run_in_library.h"
#include "stages/generative/make_stage.h"
#include "stages/recognition/make_stage.h"
#include "train/run_training.h"

namespace addp {
namespace {

// Options that describe a stage train it; those of any other command have a run() of their own.
void run_body(const LibraryOptions& options, const RunContext& context) {
  std::visit(
      [&](const auto& chosen) {
        if constexpr (requires(World & world) { make_stage(chosen, world); }) {
          run_training(chosen.train, context,
                       [&](World& world) { return make_stage(chosen, world); });
        } else {
          run(chosen, context);
        }
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
