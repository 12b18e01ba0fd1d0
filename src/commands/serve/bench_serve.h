// addp bench serve: pictures per second and latency of the service over HTTP, beside the sampler's
// own rate.
#pragma once

#include <filesystem>
#include <vector>

#include "base/option/options.h"
#include "base/run/run_context.h"
#include "generate/options.h"
#include "machine/compute_options.h"

namespace addp {

struct BenchServeOptions {
  std::filesystem::path model;
  std::vector<std::int64_t> clients = {1, 8, 64};
  std::int64_t batch = 16;
  double seconds = 10;
  Precision precision = Precision::kAuto;  // as 'serve'
  ComputeOptions compute;
  SamplerOptions sampler;

  void describe(Options& o) {
    o.add("model", model, "a model that makes pictures").required();
    o.add("clients", clients,
          "numbers of clients, each of which asks again when it has its picture")
        .range(1, 512);
    o.add("batch", batch, "pictures that are computed together, at most").range(1, 4096);
    o.add("seconds", seconds, "how long to measure each").range(0.1, 3600);
    describe_precision(o, precision);
    compute.describe(o);
    sampler.describe(o);
  }
};

void run(const BenchServeOptions& options, const RunContext& context);

}  // namespace addp
