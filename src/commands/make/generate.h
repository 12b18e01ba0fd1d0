// addp generate: pictures out of nothing.
#pragma once

#include <filesystem>
#include <string>

#include "base/run/run_context.h"
#include "generate/options.h"
#include "machine/compute_options.h"

namespace addp {

// Which model, and with what arithmetic: the same for every command that samples.
struct SamplingModelOptions {
  std::filesystem::path model, tokenizer;
  Precision precision = Precision::kAuto;
  ComputeOptions compute;

  void describe(Options& o, bool predictors = true) {
    o.add("model", model,
          predictors
              ? "a name of 'addp models', a folder that 'addp train addp' wrote ('addp train "
                "predictor' works, too), or a published checkpoint"
              : "a name of 'addp models', a folder that 'addp train addp' wrote, or a "
                "published checkpoint")
        .required();
    o.add("tokenizer", tokenizer, "tokenizer of a published checkpoint that has none inside");
    describe_precision(o, precision);
    compute.describe(o);
  }
};

// The class to ask a class-conditional model for.
struct ClassOptions {
  std::string name;
  double guidance = 1;

  void describe(Options& o) {
    o.add("class", name, "name or number, for models trained with --class-conditional")
        .metavar("NAME");
    o.add("guidance", guidance, "how strongly the class counts; 1: as learned").range(0, 100);
  }
};

struct GenerateOptions {
  SamplingModelOptions model;
  ClassOptions condition;
  std::filesystem::path out;
  std::string size, format = "png";
  std::int64_t count = 16, batch = 16, seed = 0, first = 0;
  bool grid = false, trajectory = false;
  SamplerOptions sampler;

  void describe(Options& o) {
    o.group("What to make, and where to put it");
    model.describe(o);
    o.add("out", out, "folder for the pictures").required();
    o.add("count", count, "number of pictures").alias("n").range(1, 1e9);
    o.add("seed", seed, "picture i of a seed is the same in any batch, up to rounding")
        .range(0, 9e15);
    o.add("first", first, "number of the first picture").range(0, 9e15).advanced();
    o.add("batch", batch, "pictures that are made together").range(1, 65536).advanced();
    condition.describe(o);
    o.add("size", size, "pixels of the pictures, any multiples of a token's; empty: as trained")
        .metavar("WxH");
    o.add("format", format,
          "of the files: png, jpg:QUALITY or webp:QUALITY; only PNG carries how a picture was made")
        .metavar("FORMAT");
    o.add("grid", grid, "one sheet, samples.png, instead of a file for each picture");
    o.add("trajectory", trajectory,
          "also what the paper's figures show of each step: a strip (.png) and an animation "
          "(.webp) of every picture");
    sampler.describe(o);
  }
};

void run(const GenerateOptions& options, const RunContext& context);

}  // namespace addp
