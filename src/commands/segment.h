// addp segment: the class of every pixel of pictures.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/run_context.h"

namespace addp {

struct SegmentCommandOptions {
  std::vector<std::string> pictures;
  std::filesystem::path model, out;
  std::int64_t short_side = -1;
  std::vector<double> scales = {1};
  bool flip = false;
  std::int64_t threads = 0;

  void describe(Options& o) {
    o.add("pictures", pictures, "pictures, or folders of them")
        .positional()
        .required()
        .metavar("PICTURES");
    o.add("model", model, "a folder that 'addp train segmenter' wrote, or a model file").required();
    o.add("out", out, "folder for overlays (NAME.png) and label maps (NAME-labels.png)").required();
    o.add("short-side", short_side,
          "pictures are resized to this first; 0: not at all; -1: the size of the training crops")
        .range(-1, 65536);
    o.add("scales", scales, "scales whose probabilities are averaged, as 0.75,1,1.25");
    o.add("test-flip", flip, "average with the mirrored picture, too").alias("flip");
    o.add("threads", threads, "threads of the computation; 0: one a core").range(0, 4096);
  }
};

void run_segment(const SegmentCommandOptions& options, const RunContext& context);

}  // namespace addp
