// Where the networks compute, as people set it. Free of libtorch.
#pragma once

#include <string>

#include "base/options.h"

namespace addp {

struct ComputeOptions {
  std::string device = "auto";
  std::int64_t threads = 0;

  void describe(Options& o) {
    o.add("device", device, "auto, cpu, cuda or cuda:N; auto: a CUDA device where there is one")
        .metavar("DEVICE");
    o.add("threads", threads, "threads of the computation; 0: one a core").range(0, 4096);
  }
};

}  // namespace addp
