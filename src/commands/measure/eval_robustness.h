// addp eval robustness: accuracy on corrupted pictures and on shifted sets.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/option/options.h"
#include "base/run/run_context.h"
#include "commands/recognise/machine_options.h"

namespace addp {

struct EvalRobustnessOptions {
  std::filesystem::path model, classes, imagenet_c, examples;
  std::string data, split;
  std::vector<std::string> corruptions, shifted;
  std::int64_t limit = 0, seed = 0;
  MachineOptions machine;

  void describe(Options& o) {
    o.add("model", model, "a run of 'addp train classifier' or 'probe', or a published classifier")
        .required();
    o.add("data", data,
          "clean pictures in one folder per class, or 'shapes'; they are corrupted here")
        .metavar("DATA");
    o.add("split", split, "empty: val, or test, or what there is");
    o.add("imagenet-c", imagenet_c,
          "a folder in ImageNet-C's layout (corruption/severity/class), "
          "used instead of corrupting --data");
    o.add("shifted", shifted,
          "sets of the same or fewer classes (ImageNet-A, -R, -Sketch): paths, or NAME=PATH");
    o.add("corruptions", corruptions, "names; empty: all fifteen");
    o.add("limit", limit, "pictures of each set, an even draw; 0: all").range(0, 1e12);
    o.add("seed", seed, "of the corruptions").range(0, 9e15);
    o.add("classes", classes, "names for a model that holds none: one line per class");
    o.add("examples", examples, "a picture (.png) to write: one picture in every corruption");
    machine.describe(o);
  }
};

void run(const EvalRobustnessOptions& options, const RunContext& context);

}  // namespace addp
