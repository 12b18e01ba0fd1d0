// addp segment: the class of every pixel of pictures.
#pragma once

#include <vector>

#include "base/run/run_context.h"
#include "commands/recognise/picture_inputs.h"

namespace addp {

struct SegmentOptions {
  PictureInputOptions input;
  std::int64_t short_side = -1;
  std::vector<double> scales = {1};
  bool flip = false;

  void describe(Options& o) {
    input.describe(o,
                   "a name of 'addp models', a folder that 'addp train segmenter' wrote, or a file",
                   "folder for overlays (NAME.png) and label maps (NAME-labels.png)");
    o.add("short-side", short_side,
          "pictures are resized to this first; 0: not at all; -1: the size of the training crops")
        .range(-1, 65536);
    o.add("scales", scales, "scales whose probabilities are averaged, as 0.75,1,1.25")
        .range(0.05, 20);
    o.add("test-flip", flip, "average with the mirrored picture, too").alias("flip");
  }
};

void run(const SegmentOptions& options, const RunContext& context);

}  // namespace addp
