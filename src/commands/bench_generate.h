// addp bench generate: pictures a second of a model, against what the machine's matrix products
// would allow.
#pragma once

#include "commands/generate.h"

namespace addp {

struct BenchGenerateOptions {
  std::filesystem::path model;
  std::string preset = "tiny";
  std::int64_t batch = 16, threads = 0;
  double seconds = 5;
  SamplerOptions sampler;

  void describe(Options& o) {
    o.add("model", model, "a model to measure; empty: the preset with random weights");
    o.add("preset", preset, "nano, tiny, small, base, large, resnet-nano or resnet50")
        .metavar("NAME");
    o.add("batch", batch, "pictures that are made together").range(1, 65536);
    o.add("seconds", seconds, "how long to measure").range(0.1, 3600);
    o.add("threads", threads, "threads of the computation; 0: one a core").range(0, 4096);
    sampler.describe(o);
  }
};

void run_bench_generate(const BenchGenerateOptions& options, const RunContext& context);

}  // namespace addp
