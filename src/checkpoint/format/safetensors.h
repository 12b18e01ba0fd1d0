// The safetensors format: eight bytes of header length, a JSON header, the tensors' bytes.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "checkpoint/format/tensor.h"

namespace addp {

struct Safetensors {
  TensorMap tensors;
  std::map<std::string, std::string> metadata;
};

// Memory-mapped; every offset, shape and overlap is checked.
Safetensors read_safetensors(const std::filesystem::path& path);
// From memory that `owner` keeps alive; `name` is what errors name.
Safetensors parse_safetensors(ByteSpan bytes, std::shared_ptr<const void> owner,
                              const std::string& name);
// Atomic, one tensor in memory at a time. Tensors with wide elements come first, then by
// name: so every tensor is aligned to its element. `floating` converts the floating-point
// tensors on the way.
void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       std::optional<DType> floating = {});

}  // namespace addp
