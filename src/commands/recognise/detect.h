// addp detect: the things in pictures, with boxes and masks.
#pragma once

#include "base/run/run_context.h"
#include "commands/recognise/picture_inputs.h"

namespace addp {

struct DetectOptions {
  PictureInputOptions input;
  std::filesystem::path annotations;
  double score = 0.5;
  double nms = 0.5;
  std::int64_t count = 100;
  std::int64_t views = 1;

  void describe(Options& o) {
    input.describe(
        o, "a name of 'addp models', a folder that 'addp train detector' wrote, or a file",
        "folder for drawings (NAME.png) and results.json, in COCO's form for results, with "
        "everything of a score above 0.05");
    o.add("annotations", annotations,
          "COCO's file about these pictures: results.json then has its picture ids, as 'addp eval "
          "detection' needs them; else 0, 1, ...")
        .metavar("FILE");
    o.add(
         "score", score,
         "what is less certain is neither drawn nor printed; results.json goes down to 0.05, or to "
         "this where it is lower")
        .range(0, 1);
    o.add("nms", nms, "largest IoU of two detections of one class").range(0, 1);
    o.add("count", count, "detections per picture, at most").range(1, 100'000);
    o.add(
         "views", views,
         "look at so many of the picture and its three mirror images, and keep what they agree on: "
         "surer, and slower by as much")
        .range(1, 4);
  }
};

void run(const DetectOptions& options, const RunContext& context);

}  // namespace addp
