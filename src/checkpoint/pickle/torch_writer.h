// Writes what Python's torch.load(path, weights_only=True) reads.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "checkpoint/format/tensor.h"

namespace addp {

// {root: {name: tensor, ...}, **metadata}; an empty root puts the tensors at the top level.
// Metadata may hold everything that JSON can. `floating` converts the floating-point tensors.
// Atomic, one tensor in memory at a time.
void write_torch_file(const std::filesystem::path& path, const TensorMap& tensors,
                      const std::string& root = "model",
                      const nlohmann::json& metadata = nlohmann::json::object(),
                      std::optional<DType> floating = {});

}  // namespace addp
