// Where the networks compute and with what arithmetic, as people set it. Free of libtorch.
#pragma once

#include <string>

#include "base/option/options.h"

namespace addp {

struct ComputeOptions {
  std::string device = "auto";
  std::int64_t threads = 0;

  void describe(Options& o) {
    o.add("device", device, "auto, cpu, cuda or cuda:N; auto: a CUDA device where there is one")
        .metavar("DEVICE");
    o.add("threads", threads, "threads of the computation; 0: one per core").range(0, 4096);
  }
};

// kAuto: bfloat16 where the machine has instructions for it.
enum class Precision { kFloat32, kBfloat16, kAuto };

inline void describe_precision(Options& o, Precision& precision) {
  o.add_enum<Precision>(
      "precision", precision,
      {{"auto", Precision::kAuto}, {"fp32", Precision::kFloat32}, {"bf16", Precision::kBfloat16}},
      "arithmetic of products and convolutions; bf16, where the machine has instructions for it; auto: bf16 there, else fp32");
}

}  // namespace addp
