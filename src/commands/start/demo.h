// addp demo: what the models that come with the program do, in one page; with --train, everything
// from nothing.
#pragma once

#include <filesystem>

#include "base/option/options.h"
#include "base/run/run_context.h"
#include "machine/compute_options.h"

namespace addp {

struct DemoOptions {
  std::filesystem::path out;
  bool train = false;
  double scale = 1;
  std::int64_t seed = 1;
  ComputeOptions compute;

  void describe(Options& o) {
    o.add("out", out, "folder for the page; empty: out/demo, or out/demo-train with --train");
    o.add("train", train,
          "train every stage on pictures made here, in minutes, instead of showing the models that "
          "come with the program");
    o.add("scale", scale, "length of that training, times a quarter of an hour on two cores")
        .range(0.001, 1000);
    o.add("seed", seed, "of everything random").range(0, 9e15);
    compute.describe(o);
  }
};

void run(const DemoOptions& options, const RunContext& context);

}  // namespace addp
