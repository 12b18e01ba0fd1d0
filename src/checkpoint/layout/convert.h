// Published checkpoints into ours and back. Names stay as they are: our networks use
// the published names.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/format/tensor.h"

namespace addp {

struct ConversionOptions {
  std::optional<DType> floating;  // F32, F16 or BF16: the type of the floating-point tensors
  std::string version;            // of the program, for the file's metadata
  bool share_tokenizer = false;   // leave it out for the one beside `out` (shared_tokenizer.h)
};

struct ConvertReport {
  std::string kind;
  std::uint64_t tensors = 0, bytes_in = 0, bytes_out = 0;
  std::vector<std::string> dropped;  // entries that only the training that wrote the file needs
  std::uint64_t overflowed = 0;      // finite numbers that the new type cannot hold
  std::string call;                  // export_encoder(): the Python that makes the network
};

// The ending of `out` decides. ".safetensors": ours, with kind, configuration and provenance as
// metadata. ".pth", ".pt", ".ckpt": the published layout, {"state_dict": ...} for tokenizers and
// {"model": ...} for the rest. Anything else is a UsageError. In the provenance of a model of ours
// absolute paths become their last names.
ConvertReport convert_checkpoint(const std::filesystem::path& in, const std::filesystem::path& out,
                                 const ConversionOptions& options = {});

}  // namespace addp
