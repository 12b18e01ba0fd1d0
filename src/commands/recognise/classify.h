// addp classify: the most likely classes of pictures.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/option/options.h"
#include "base/run/run_context.h"
#include "commands/recognise/machine_options.h"

namespace addp {

struct ClassifyOptions {
  std::filesystem::path model, classes;
  std::vector<std::string> pictures;
  std::int64_t top = 5;
  MachineOptions machine;

  void describe(Options& o) {
    o.add("pictures", pictures, "pictures, folders or archives")
        .positional()
        .required()
        .metavar("PICTURE...");
    o.add("model", model,
          "a name of 'addp models', a run of 'addp train classifier' or 'probe', or a published "
          "classifier")
        .required();
    o.add("top", top, "classes to name for each picture").range(1, 1000);
    o.add("classes", classes, "names for a model that holds none: one line per class");
    machine.describe(o);
  }
};

void run(const ClassifyOptions& options, const RunContext& context);

}  // namespace addp
