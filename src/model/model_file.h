// Model files: ours (safetensors that carry kind, configuration and provenance) and foreign
// checkpoints, opened the same way.
#pragma once

#include <c10/util/Exception.h>

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

// A file, a folder with a model.safetensors in it, or a model by name: of a set ("cells") the first
// of `kinds` that it has, no kinds meaning any (checkpoint/named/find_model.h).
ModelFile open_model(const std::filesystem::path& model,
                     std::initializer_list<std::string_view> kinds = {});
// A DataError unless the file is foreign or of one of these kinds.
void require_kind(const ModelFile& file, std::initializer_list<std::string_view> kinds);
// Writes the tensors with kind and configuration; `provenance` is JSON text. Atomic. A folder as
// `path` means the model.safetensors in it.
void save_model(const std::filesystem::path& path, const ModelFile& file,
                const std::string& provenance);

// What the JSON library says, without its own marks: "[json.exception.type_error.302] type
// must...".
inline std::string plain_words(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const std::size_t mark = text.find("] ");
  return mark == std::string::npos ? text : text.substr(mark + 2);
}

// A configuration struct from its JSON; a DataError names the file and the field of a wrong type.
template <class Config>
Config parse_config(const nlohmann::json& json, const std::string& source) {
  try {
    return json.get<Config>();
  } catch (const nlohmann::json::exception& error) {
    throw DataError(
        "{}: its stored configuration cannot be used ({}); is it a model of this program?", source,
        plain_words(error));
  }
}

// Builds a network of what a file says about itself. Sizes that do not fit together or in memory
// are the file's fault: whatever making it throws becomes a DataError that names the file.
template <class Make>
auto from_file(const std::string& source, const Make& make) {
  const auto refuse = [&](const std::string& reason) {
    return DataError("{}: its stored configuration cannot be used: {}; take another checkpoint",
                     source, reason.substr(0, reason.find('\n')));
  };
  try {
    return make();
  } catch (const DataError&) {
    throw;
  } catch (const c10::Error& error) {
    throw refuse(error.what_without_backtrace());
  } catch (const std::exception& error) {
    throw refuse(error.what());
  }
}

}  // namespace addp
