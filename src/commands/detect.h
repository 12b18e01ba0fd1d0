// addp detect: the things in pictures, with boxes and masks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/run_context.h"

namespace addp {

struct DetectCommandOptions {
  std::vector<std::string> pictures;
  std::filesystem::path model, out;
  double score = 0.5;
  double nms = 0.5;
  std::int64_t count = 100;
  std::int64_t threads = 0;

  void describe(Options& o) {
    o.add("pictures", pictures, "pictures, or folders of them")
        .positional()
        .required()
        .metavar("PICTURES");
    o.add("model", model, "a folder that 'addp train detector' wrote, or a model file").required();
    o.add("out", out, "folder for drawings (NAME.png) and results.json, in COCO's form for results")
        .required();
    o.add("score", score, "what is less certain is left out").range(0, 1);
    o.add("nms", nms, "largest IoU of two detections of one class").range(0, 1);
    o.add("count", count, "detections a picture, at most").range(1, 100'000);
    o.add("threads", threads, "threads of the computation; 0: one a core").range(0, 4096);
  }
};

void run_detect(const DetectCommandOptions& options, const RunContext& context);

}  // namespace addp
