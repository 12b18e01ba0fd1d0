// addp bench growth: how the cost of a picture grows with batch, resolution, steps, network,
// threads, processes and workers, each beside its arithmetic; and what follows for many GPUs.
#pragma once

#include <filesystem>

#include "base/option/options.h"
#include "base/run/run_context.h"
#include "machine/compute_options.h"

namespace addp {

struct BenchGrowthOptions {
  std::filesystem::path into;
  Precision precision = Precision::kAuto;
  ComputeOptions compute;
  double seconds = 1.5;
  double gpu_tflops = 312, gpu_share = 0.4;
  double node_gigabytes = 300, network_gigabytes = 25;

  void describe(Options& o) {
    o.add("into", into,
          "a Markdown file whose part between the lines '<!-- growth -->' and '<!-- end -->' is "
          "replaced; without it the tables are printed")
        .metavar("FILE");
    o.add("seconds", seconds, "how long to measure each line, at least").range(0.1, 600);
    describe_precision(o, precision);
    compute.describe(o);
    o.advanced_group("What the plan for GPUs assumes");
    o.add("gpu-tflops", gpu_tflops, "bfloat16 peak of one GPU, in TFLOP/s").range(1, 1e6);
    o.add("gpu-share", gpu_share, "share of it that training reaches").range(0.01, 1);
    o.add("node-gigabytes", node_gigabytes, "per second between the GPUs of a node")
        .range(0.1, 1e6);
    o.add("network-gigabytes", network_gigabytes, "per second between nodes").range(0.1, 1e6);
  }
};

void run(const BenchGrowthOptions& options, const RunContext& context);

}  // namespace addp
