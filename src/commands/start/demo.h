// addp demo: every stage on the procedural set, from nothing to samples, classes, boxes and label
// maps, and one page that shows them.
#pragma once

#include <filesystem>

#include "base/options.h"
#include "base/run_context.h"
#include "machine/compute_options.h"

namespace addp {

struct DemoOptions {
  std::filesystem::path out = "out/demo";
  double scale = 1;
  std::int64_t seed = 1;
  ComputeOptions compute;

  void describe(Options& o) {
    o.add("out", out, "folder for the models and the page");
    o.add("scale", scale, "length of the training, times a few minutes on two cores")
        .range(0.001, 1000);
    o.add("seed", seed, "of everything random").range(0, 9e15);
    compute.describe(o);
  }
};

void run(const DemoOptions& options, const RunContext& context);

}  // namespace addp
