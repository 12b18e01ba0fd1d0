// addp convert: published checkpoints into ours, and back.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/option/options.h"
#include "base/run/run_context.h"

namespace addp {

struct ConvertOptions {
  std::vector<std::string> paths;
  std::string dtype = "keep", target = "addp";
  bool share_tokenizer = false;

  void describe(Options& o) {
    o.add(
         "paths", paths,
         "the checkpoint to read (cells/addp: a model by name) and the file to write: .safetensors "
         "is ours, .pth, .pt or .ckpt the published layout; names of folders on this machine stay out "
         "of it")
        .positional()
        .required()
        .metavar("IN OUT");
    o.add("dtype", dtype, "type of the floating-point tensors in the new file")
        .choices({"keep", "float32", "float16", "bfloat16"});
    o.add(
        "share-tokenizer", share_tokenizer,
        "leave the tokenizer out, for a set of models whose tokenizer.safetensors lies beside OUT; its "
        "decoder may have been trained further");
    o.add("for", target,
          "addp: the whole model; timm: the encoder with its features as timm's VisionTransformer, "
          ".safetensors or .pth; mae: the encoder as MAE's fine-tuning code takes it, .pth")
        .choices({"addp", "timm", "mae"});
  }
};

void run(const ConvertOptions& options, const RunContext& context);

}  // namespace addp
