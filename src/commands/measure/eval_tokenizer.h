// addp eval tokenizer: what a tokenizer keeps of pictures.
#pragma once

#include <filesystem>
#include <string>

#include "base/option/options.h"
#include "base/run/run_context.h"
#include "machine/compute_options.h"

namespace addp {

struct EvalTokenizerOptions {
  std::filesystem::path model, weights, lpips, out;
  std::string data, split, as = "png";
  std::int64_t count = 0, size = 0, batch = 32;
  ComputeOptions compute;
  bool fid = true;

  void describe(Options& o) {
    o.add("model", model, "a tokenizer, or any model with one inside").required();
    o.add("data", data, "held-out pictures").required();
    o.add("split", split, "train, val, test or all; what is held out where none is named");
    o.add("count", count, "pictures, evenly spread over the set; 0: all").range(0, 1e9);
    o.add("size", size,
          "middle square, resized to this; 0: pictures as they are, cut to whole tokens")
        .range(0, 8192);
    o.add("weights", weights, "the FID network; empty: inception*.safetensors of 'addp weights'");
    o.add("lpips", lpips, "LPIPS weights; empty: lpips*.safetensors of 'addp weights'");
    o.add("fid", fid, "also rFID");
    o.add(
         "as", as,
         "reconstructions as files of this format hold them: png, jpg:QUALITY or webp:QUALITY; FID "
         "sees whether it is the pictures' own")
        .metavar("FORMAT");
    o.add("out", out, "folder for a sheet of reconstructions and a page; empty: none");
    o.add("batch", batch, "pictures at a time").range(1, 65536);
    compute.describe(o);
  }
};

void run(const EvalTokenizerOptions& options, const RunContext& context);

}  // namespace addp
