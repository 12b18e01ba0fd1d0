// What a checkpoint is, from its names and shapes alone.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/layout/checkpoint.h"

namespace addp {

struct Recognition {
  // "tokenizer", "predictor", "addp", "classifier", "mae", "vit", "resnet50", "inception", "lpips",
  // or "tensors" for everything else; our own files say it themselves.
  std::string kind;
  std::string title;              // one line for people
  nlohmann::json details;         // the sizes; names as in the configuration of the network
  std::vector<std::string> uses;  // what can be done with it
  std::uint64_t file_bytes = 0;
  std::uint64_t tensors = 0;
  std::uint64_t parameters = 0;  // trained numbers: running statistics and indices are none
  std::map<std::string, std::uint64_t> parts;   // parameters by the first word of the name
  std::map<std::string, std::uint64_t> dtypes;  // tensors by type
  std::vector<std::string> unused;  // names that a published layout carries and nothing uses
  std::map<std::string, std::uint64_t> non_finite;  // NaN and infinite values by tensor

  nlohmann::json to_json() const;
};

struct RecogniseOptions {
  bool count_non_finite = true;  // reads all numbers
};

Recognition recognise(const Checkpoint& checkpoint, const RecogniseOptions& options = {});

// What our own files say about themselves: in safetensors as text under these keys, in torch files
// as the entry "addp".
inline constexpr std::string_view kKindKey = "addp.kind", kConfigKey = "addp.config",
                                  kVersionKey = "addp.version", kProvenanceKey = "addp.provenance";

struct OwnMetadata {
  std::string kind, version;
  nlohmann::json config = nlohmann::json::object();
  nlohmann::json provenance = nlohmann::json::object();  // data, steps, where it came from
};

// Nothing for foreign files; a DataError where the keys are there and not JSON.
std::optional<OwnMetadata> own_metadata(const Checkpoint& checkpoint);
// The same as the metadata of a safetensors file.
std::map<std::string, std::string> to_safetensors_metadata(const OwnMetadata& own);

}  // namespace addp
