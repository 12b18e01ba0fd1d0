// addp eval detection: COCO's twelve figures for boxes and masks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/option/options.h"
#include "base/run/run_context.h"

namespace addp {

struct EvalDetectionOptions {
  std::filesystem::path annotations, detections;
  std::vector<std::string> only;

  void describe(Options& o) {
    o.add("annotations", annotations, "the truth, in COCO's format").required();
    o.add("detections", detections, "results, in COCO's format").required();
    o.add("only", only, "the classes that count, by name; empty: all").metavar("NAME");
  }
};

void run(const EvalDetectionOptions& options, const RunContext& context);

}  // namespace addp
