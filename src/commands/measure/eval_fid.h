// addp eval fid: FID, IS, precision, recall and KID of pictures or of a model.
#pragma once

#include "commands/make/generate.h"

namespace addp {

struct EvalFidOptions {
  std::vector<std::string> sets;
  std::filesystem::path weights, tokenizer, save;
  std::string split = "all", generated_split = "all", as = "png";
  std::int64_t count = 0, reference_count = 0, size = 0;
  std::int64_t seed = 0, batch = 64;
  ComputeOptions compute;
  Precision precision = Precision::kAuto, features = Precision::kFloat32;
  ClassOptions condition;
  bool inception_score = false, cache = true, per_class = false;
  SamplerOptions sampler;

  void describe(Options& o) {
    o.group("What to compare");
    o.add("sets", sets,
          "the generated set, then the reference: folders, archives, lists, 'shapes:..', "
          "statistics (.npz, .safetensors), or a model to sample from")
        .positional()
        .required()
        .metavar("GENERATED REFERENCE");
    o.add("weights", weights, "the FID network; empty: inception*.safetensors of 'addp weights'");
    o.add("split", split, "of the reference: train, val, test, all");
    o.add("generated-split", generated_split, "of the generated set");
    o.add("count", count,
          "pictures of the generated set, or to sample; 0: all, or as many as the reference has")
        .range(0, 1e9);
    o.add("reference-count", reference_count, "pictures of the reference; 0: all").range(0, 1e9);
    o.add("size", size, "middle square of both, resized to this first; 0: pictures as they are")
        .range(0, 8192);
    o.add("inception-score", inception_score,
          "ask for the Inception Score, which needs the network's fc layer");
    o.add("cache", cache, "keep the statistics of sets and use kept ones");
    o.add("save", save, "also write the generated set's statistics to this file (.safetensors)");
    o.add_enum<Precision>(
        "features", features,
        {{"auto", Precision::kAuto}, {"fp32", Precision::kFloat32}, {"bf16", Precision::kBfloat16}},
        "arithmetic of the FID network; bf16 is twice as fast and moves FID by 1 or 2%: for comparing models, both sets with it");
    compute.describe(o);
    o.group("Where the generated set is a model");
    o.add("tokenizer", tokenizer, "tokenizer of a published checkpoint that has none inside");
    o.add("as", as,
          "its pictures as files of this format hold them: png, jpg:QUALITY or webp:QUALITY; FID "
          "sees whether it is the reference's own")
        .metavar("FORMAT");
    o.add("seed", seed, "of the pictures").range(0, 9e15);
    o.add("batch", batch, "pictures that are made together").range(1, 65536);
    condition.describe(o);
    o.add("per-class", per_class,
          "as many pictures of each class as the reference has, for models that know its classes");
    describe_precision(o, precision);
    sampler.describe(o);
  }
};

void run(const EvalFidOptions& options, const RunContext& context);

}  // namespace addp
