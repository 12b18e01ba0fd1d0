// addp visualize: what a model learned from and with: synthetic training pictures, the mask-ratio
// distribution, reconstructions, codebook use.
#pragma once

#include <filesystem>
#include <string>

#include "base/option/options.h"
#include "base/run/run_context.h"
#include "diffusion/options.h"
#include "machine/compute_options.h"

namespace addp {

struct VisualizeOptions {
  std::filesystem::path tokenizer, predictor, out;
  std::string data;
  std::int64_t count = 8, size = 0, seed = 0;
  ComputeOptions compute;
  MaskRatioOptions mask;

  void describe(Options& o) {
    o.add("out", out, "folder for the pictures and the page").required();
    o.add("data", data, "pictures to show; empty: only the distributions");
    o.add("tokenizer", tokenizer, "for reconstructions and the use of the codebook");
    o.add("predictor", predictor,
          "with a tokenizer: synthetic training pictures x_t for the three mapping functions");
    o.add("count", count, "pictures to show").range(1, 64);
    o.add("size", size, "side of the pictures; 0: what the predictor was trained for, or 256")
        .range(0, 8192);
    o.add("seed", seed, "of the masks").range(0, 9e15);
    compute.describe(o);
    o.add("timesteps", mask.steps, "T").range(1, 1e6);
    o.add("mask-mean", mask.mean, "of the truncated normal over mask ratios").range(0, 1);
    o.add("mask-deviation", mask.deviation, "its deviation").range(1e-6, 10);
  }
};

void run(const VisualizeOptions& options, const RunContext& context);

}  // namespace addp
