// addp eval copies: whether generated pictures repeat training pictures.
#pragma once

#include <filesystem>
#include <string>

#include "base/option/options.h"
#include "base/run/run_context.h"
#include "commands/recognise/machine_options.h"

namespace addp {

struct EvalCopiesOptions {
  std::string generated, data, held_out;
  std::filesystem::path model, tokenizer, through, out;
  std::int64_t size = 0;
  MachineOptions machine;

  void describe(Options& o) {
    o.add("generated", generated, "generated pictures: a folder, an archive, a list")
        .positional()
        .required()
        .metavar("GENERATED");
    o.add("data", data, "what the generator was trained on, with a train and a val split")
        .required()
        .metavar("DATA");
    o.add("held-out", held_out, "pictures it has never seen; empty: the val split of --data");
    o.add("model", model, "a network whose features also compare: ADDP, predictor, classifier");
    o.add("tokenizer", tokenizer, "for an encoder of tokens whose model has no tokenizer inside");
    o.add("through", through,
          "a tokenizer that held-out pictures are coded and decoded by, as generated ones are "
          "decoded: smooth pictures are nearer to all others");
    o.add("size", size, "side of the pictures; 0: the model's, or 64").range(0, 4096);
    o.add("out", out, "folder for a sheet of the nearest pairs and a page; empty: none");
    machine.describe(o);
  }
};

void run(const EvalCopiesOptions& options, const RunContext& context);

}  // namespace addp
