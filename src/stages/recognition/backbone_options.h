// Where the encoder of a recognition stage comes from. Free of libtorch.
#pragma once

#include <filesystem>
#include <string>

#include "base/option/options.h"

namespace addp {

// The encoder that is trained or probed.
struct BackboneOptions {
  std::filesystem::path model;
  std::filesystem::path tokenizer;
  std::string input = "pixels";
  std::string preset = "base";
  std::int64_t patch = 16;

  void describe(Options& o) {
    o.group("Encoder");
    o.add("model", model,
          "a pre-trained network: a run of 'addp train addp', 'predictor' or 'classifier', a name "
          "of 'addp models', or a published file; empty: from scratch");
    o.add("tokenizer", tokenizer, "for an encoder of tokens whose model has no tokenizer inside")
        .advanced();
    o.add("input", input, "from scratch: what the encoder is fed with")
        .choices({"pixels", "tokens"})
        .advanced();
    o.add("preset", preset,
          "from scratch: size by name: nano, tiny, small, base, large, resnet-pico, resnet-nano, "
          "resnet50")
        .metavar("NAME");
    o.add("patch", patch, "from scratch: pixels of a patch, each way").range(1, 1024).advanced();
  }
};

}  // namespace addp
