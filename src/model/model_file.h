// Model files: ours (safetensors that carry kind, configuration and provenance) and foreign
// checkpoints, opened the same way.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "checkpoint/format/tensor.h"

namespace addp {

struct ModelFile {
  std::string source{};  // the file, for messages
  std::string kind{};    // "addp", "predictor", "tokenizer", "classifier", ...; empty: not known
  TensorMap tensors{};
  nlohmann::json config = nlohmann::json::object();
  // Data, steps, ...: whatever the trainer noted.
  nlohmann::json provenance = nlohmann::json::object();
  bool converted = false;  // from a foreign file: our metadata, but its names and shapes

  // Nothing but names and shapes tells the configuration.
  bool foreign() const { return kind.empty() || converted; }
};

// A file, or a folder with a model.safetensors in it.
ModelFile open_model(const std::filesystem::path& path);
// A DataError unless the file is foreign or of one of these kinds.
void require_kind(const ModelFile& file, std::initializer_list<std::string_view> kinds);
// Writes the tensors with kind and configuration; `provenance` is JSON text. Atomic. A folder as
// `path` means the model.safetensors in it.
void save_model(const std::filesystem::path& path, const ModelFile& file,
                const std::string& provenance);

// A configuration struct from its JSON; a DataError names the file and the field of a wrong type.
template <class Config>
Config parse_config(const nlohmann::json& json, const std::string& source) {
  try {
    return json.get<Config>();
  } catch (const nlohmann::json::exception& error) {
    throw DataError(
        "{}: its stored configuration cannot be used ({}); is it a model of this program?", source,
        error.what());
  }
}

}  // namespace addp
