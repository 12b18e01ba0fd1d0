// Tokenizers in files: ours, which carry their configuration, and published ones, recognised by
// shapes.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "tokenizer/vqgan.h"

namespace addp {

nlohmann::json to_json(const VqganConfig& config);
VqganConfig vqgan_config_from_json(const nlohmann::json& json, const std::string& source);

// `path` is a file, or a folder with model.safetensors in it. The network is frozen.
std::shared_ptr<Vqgan> load_tokenizer(const std::filesystem::path& path);
// The tokenizer whose names in `checkpoint` begin with `prefix` ("vqgan."), as predictors and ADDP
// models carry theirs.
std::shared_ptr<Vqgan> tokenizer_from(const Checkpoint& checkpoint, const std::string& prefix);

// `provenance` is JSON: the data, the steps, the command.
void save_tokenizer(const std::filesystem::path& path, const Vqgan& tokenizer,
                    const std::string& provenance);

}  // namespace addp
