// Models of a set that share one tokenizer. Usually a model's file has its tokenizer inside; a
// model of a set may name the tokenizer.safetensors beside it instead, by its digest.
#pragma once

#include <filesystem>
#include <string>

#include "checkpoint/format/tensor.h"
#include "checkpoint/layout/recognise.h"

namespace addp {

// Before the names of a tokenizer's tensors inside another network's file.
inline constexpr const char* kTokenizerInside = "vqgan.";

// Takes the tokenizer out of a model that will be written into `folder`, and notes the digest of
// the one there. A DataError unless that one makes the same tokens: encoder and codes hold the same
// numbers once both are of type `floating`. Its decoder may be another, trained further.
void share_tokenizer(TensorMap& tensors, OwnMetadata& own, const std::filesystem::path& folder,
                     std::optional<DType> floating);

// The tokenizer's file that the configuration of the model file `source` names; empty where it
// names none. A DataError where it is missing or is another one.
std::filesystem::path shared_tokenizer(const nlohmann::json& config, const std::string& source);

}  // namespace addp
