// addp bench generate: seconds per picture, and how much of what the machine's products and
// convolutions would allow that is.
#pragma once

#include "commands/make/generate.h"
#include "machine/compute_options.h"

namespace addp {

struct BenchGenerateOptions {
  std::filesystem::path model, tokenizer;
  std::string preset = "tiny";
  Precision precision = Precision::kAuto;
  std::int64_t batch = 16, size = 0;
  ComputeOptions compute;
  double seconds = 5;
  bool profile = false;
  SamplerOptions sampler;

  void describe(Options& o) {
    o.add("model", model, "a model to measure; empty: the preset with random weights");
    o.add("tokenizer", tokenizer, "tokenizer of a published checkpoint that has none inside");
    o.add("preset", preset, "nano, tiny, small, base, large, resnet-pico, resnet-nano or resnet50")
        .metavar("NAME");
    o.add("batch", batch, "pictures that are made together").range(1, 65536);
    o.add("size", size,
          "side of the pictures in pixels, a multiple of a token's; 0: the model's own")
        .range(0, 8192);
    describe_precision(o, precision);
    o.add("seconds", seconds, "how long to measure").range(0.1, 3600);
    o.add("profile", profile,
          "also time, arithmetic, share of the machine's peak and bytes by kind of layer");
    compute.describe(o);
    sampler.describe(o);
  }
};

// What one picture takes.
struct PictureCost {
  double seconds = 0, flop = 0;
};
// The threads and the device are those of the process.
PictureCost measure_sampling(const BenchGenerateOptions& options);

void run(const BenchGenerateOptions& options, const RunContext& context);

}  // namespace addp
