// addp bench train: training steps per second of each stage, beside a plain PyTorch program.
#pragma once

#include <filesystem>
#include <string>

#include "base/option/options.h"
#include "base/run/run_context.h"
#include "machine/compute_options.h"

namespace addp {

struct BenchTrainOptions {
  std::string stage = "addp", preset = "nano";
  Precision precision = Precision::kAuto;
  std::int64_t batch = 64;
  ComputeOptions compute;
  double seconds = 10;
  bool profile = false;
  std::int64_t rounds = 3;
  std::string python;
  std::filesystem::path reference = "bench/training_reference.py";

  void describe(Options& o) {
    o.add("stage", stage, "what to train").choices({"tokenizer", "predictor", "addp"});
    o.add("preset", preset, "nano (64x64 pictures, 8x8 tokens) or a larger one (256x256, 16x16)")
        .metavar("NAME");
    o.add("batch", batch, "pictures per step").range(1, 65536);
    o.add("seconds", seconds, "how long to measure").range(0.1, 3600);
    o.add("profile", profile,
          "also time, arithmetic, share of the machine's peak and bytes by kind of layer");
    describe_precision(o, precision);
    compute.describe(o);
    o.add("python", python, "an interpreter with torch: the same work in PyTorch, right after")
        .metavar("PROGRAM");
    o.add("rounds", rounds, "how often both are measured in turn, with --python").range(1, 100);
    o.add("reference", reference, "the PyTorch program");
  }
};

struct PictureCost;
// Of a training step, per picture. The threads and the device are those of the process.
PictureCost measure_training(const BenchTrainOptions& options);

void run(const BenchTrainOptions& options, const RunContext& context);

}  // namespace addp
