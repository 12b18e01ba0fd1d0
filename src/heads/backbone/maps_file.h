// The files of networks that stand on maps: segmenters and detectors.
#pragma once

#include <filesystem>
#include <string>

#include "heads/backbone/maps.h"

namespace addp {

// Its parameters and, where the encoder takes tokens, the tokenizer.
void save_on_maps(const std::filesystem::path& path, const std::string& kind,
                  const torch::nn::Module& network, const Maps& maps, nlohmann::json config,
                  const std::string& provenance);
// A DataError says which command writes files of this kind.
ModelFile open_on_maps(const std::filesystem::path& path, const std::string& kind);
// The tokenizer inside, for backbones of tokens; null otherwise.
std::shared_ptr<const Vqgan> maps_tokenizer(const ModelFile& file, const MapsConfig& config);
void load_on_maps(torch::nn::Module& network, const ModelFile& file);

}  // namespace addp
