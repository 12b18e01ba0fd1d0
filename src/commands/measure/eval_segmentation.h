// addp eval segmentation: mIoU and accuracies of label maps.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/option/options.h"
#include "base/run/run_context.h"

namespace addp {

struct EvalSegmentationOptions {
  std::filesystem::path labels, predictions, classes, confusion;
  std::string zero_label = "class";
  std::int64_t ignore = 255, count = 0;

  void describe(Options& o) {
    o.add("labels", labels, "folder of label maps (.png)").required();
    o.add("predictions", predictions,
          "folder of predicted maps: NAME-labels.png, as 'addp segment' writes them, or NAME.png")
        .required();
    o.add("zero-label", zero_label,
          "ignore: the labels count classes from 1 and 0 is not counted, as in ADE20k; predictions "
          "always count from 0")
        .choices({"class", "ignore"});
    o.add("ignore-label", ignore, "pixels of this label do not count").range(0, 255);
    o.add("num-classes", count, "0: those that --classes names, or the largest label decides")
        .range(0, 255);
    o.add("classes", classes, "names: one line per class");
    o.add("confusion", confusion, "a picture of the confusion matrix (.png) to write");
  }
};

void run(const EvalSegmentationOptions& options, const RunContext& context);

}  // namespace addp
