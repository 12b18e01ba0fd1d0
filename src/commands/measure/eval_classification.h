// addp eval classification: accuracy, each class, the confusion matrix.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/option/options.h"
#include "base/run/run_context.h"
#include "commands/recognise/machine_options.h"

namespace addp {

struct EvalClassificationOptions {
  std::filesystem::path model, classes, confusion;
  std::string data, split;
  std::int64_t limit = 0;
  MachineOptions machine;

  void describe(Options& o) {
    o.add("model", model, "a run of 'addp train classifier' or 'probe', or a published classifier")
        .required();
    o.add("data", data, "pictures in one folder per class, or 'shapes'").required().metavar("DATA");
    o.add("split", split, "empty: val, or test, or what there is");
    o.add("limit", limit, "pictures, an even draw; 0: all").range(0, 1e12);
    o.add("classes", classes, "names for a model that holds none: one line per class");
    o.add("confusion", confusion, "a picture of the confusion matrix (.png) to write");
    machine.describe(o);
  }
};

void run(const EvalClassificationOptions& options, const RunContext& context);

}  // namespace addp
