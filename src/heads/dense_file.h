// The files of networks that stand on a trunk: segmenters and detectors.
#pragma once

#include <filesystem>
#include <string>

#include "heads/trunk.h"

namespace addp {

// A dense head's file: its parameters and, where the trunk takes tokens, the tokenizer.
void save_dense(const std::filesystem::path& path, const std::string& kind,
                const torch::nn::Module& network, const Trunk& trunk, nlohmann::json config,
                const std::string& provenance);
// A DataError says which command writes files of this kind.
ModelFile open_dense(const std::filesystem::path& path, const std::string& kind);
// The tokenizer inside, for backbones of tokens; null otherwise.
std::shared_ptr<const Vqgan> dense_tokenizer(const ModelFile& file, const TrunkConfig& config);
void load_dense(torch::nn::Module& network, const ModelFile& file);

}  // namespace addp
