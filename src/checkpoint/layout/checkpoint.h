// Any checkpoint file, opened the same way: safetensors, torch.save's zip (.pth, .ckpt, .pt) and
// its older stream layout. Nothing in a file is ever executed.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checkpoint/format/tensor.h"

namespace addp {

struct Checkpoint {
  std::filesystem::path path;
  std::string format;  // "safetensors", "torch-zip", "torch-legacy"
  // The model's tensors, by their name inside the state dict that was found.
  TensorMap tensors;
  // Which entry of the file held them: "model", "state_dict", or "" for the top level.
  std::string root;
  // safetensors: its metadata. torch files: everything that is not a tensor (epoch, args, ...), as
  // JSON values; optimizer state is summarised, not copied.
  nlohmann::json metadata = nlohmann::json::object();
  // Python names that a torch file mentions and this reader does not know; they were kept as data.
  std::vector<std::string> foreign;
};

struct OpenOptions {
  // Compares the checksums of a zip file's records, which reads the whole file once.
  bool verify = true;
};

// A DataError names the file, what is wrong with it and what to do.
Checkpoint open_checkpoint(const std::filesystem::path& path, const OpenOptions& options = {});
// From memory that `owner` keeps alive; errors name `path`.
Checkpoint parse_checkpoint(ByteSpan bytes, const std::shared_ptr<const void>& owner,
                            const std::filesystem::path& path, const OpenOptions& options = {});

}  // namespace addp
