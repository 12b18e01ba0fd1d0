// addp convert: published checkpoints into ours, and back.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/run_context.h"

namespace addp {

struct ConvertOptions {
  std::vector<std::string> paths;
  std::string dtype = "keep";

  void describe(Options& o) {
    o.add("paths", paths,
          "the checkpoint to read and the file to write: .safetensors is ours, .pth, .pt or .ckpt "
          "the published layout")
        .positional()
        .required()
        .metavar("IN OUT");
    o.add("dtype", dtype, "type of the floating-point tensors in the new file")
        .choices({"keep", "float32", "float16", "bfloat16"});
  }
};

void run(const ConvertOptions& options, const RunContext& context);

}  // namespace addp
