// addp eval detection: COCO's twelve figures for boxes and masks, and a plain count.
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
  double score = 0.5;

  void describe(Options& o) {
    o.add("annotations", annotations, "the truth, in COCO's format").required();
    o.add("detections", detections, "results, in COCO's format").required();
    o.add("only", only, "the classes that count, by name; empty: all").metavar("NAME");
    o.add(
         "score", score,
         "for the count of things found, missed and invented: what is less certain is no detection")
        .range(0, 1);
  }
};

void run(const EvalDetectionOptions& options, const RunContext& context);

}  // namespace addp
