// How a command that runs a trained network over pictures uses the machine. Free of libtorch.
#pragma once

#include <cstdint>

#include "base/option/options.h"
#include "machine/compute_options.h"

namespace addp {

struct MachineOptions {
  std::int64_t batch = 64, workers = 0;
  ComputeOptions compute;

  void describe(Options& o) {
    o.group("Machine");
    o.add("batch-size", batch, "pictures at a time").range(1, 100000);
    compute.describe(o);
    o.add("workers", workers, "threads that read pictures; 0: one per core").range(0, 4096);
  }
};

}  // namespace addp
