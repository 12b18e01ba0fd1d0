// addp features: the encoder's features of pictures, as a file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/option/options.h"
#include "base/run/run_context.h"
#include "commands/recognise/machine_options.h"

namespace addp {

struct FeaturesOptions {
  std::filesystem::path model, tokenizer, out;
  std::string data, split = "all";
  std::int64_t size = 0;
  MachineOptions machine;

  void describe(Options& o) {
    o.add("model", model, "a network whose encoder is used: ADDP, predictor, classifier")
        .required();
    o.add("tokenizer", tokenizer, "for an encoder of tokens whose model has no tokenizer inside");
    o.add("data", data, "a folder, a file list, an archive, shards, or 'shapes'")
        .required()
        .metavar("DATA");
    o.add("split", split, "train, val, test or all");
    o.add("out", out, "a .safetensors file (features, labels, names) or .npy (features)")
        .required();
    o.add("size", size, "side of the pictures; 0: what the model was trained on").range(0, 4096);
    machine.describe(o);
  }
};

void run(const FeaturesOptions& options, const RunContext& context);

}  // namespace addp
