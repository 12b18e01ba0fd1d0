// The files of networks that stand on maps: segmenters and detectors.
#pragma once

#include <filesystem>
#include <string>

#include "heads/backbone/maps.h"
#include "machine/machine.h"
#include "model/model_file.h"

namespace addp {

// Its parameters and, where the encoder takes tokens, the tokenizer.
void save_on_maps(const std::filesystem::path& path, const std::string& kind,
                  const torch::nn::Module& network, const Maps& maps, nlohmann::json config,
                  const std::string& provenance);
// A DataError says which command writes files of this kind.
ModelFile open_on_maps(const std::filesystem::path& path, const std::string& kind);
// The tokenizer inside, for backbones of tokens; null otherwise.
std::shared_ptr<const Vqgan> maps_tokenizer(const ModelFile& file, const MapsConfig& config);
void fill_on_maps(torch::nn::Module& network, const ModelFile& file);

template <class Network, class Config>
std::shared_ptr<Network> load_on_maps(const std::filesystem::path& path, const std::string& kind) {
  const ModelFile file = open_on_maps(path, kind);
  const auto config = parse_config<Config>(file.config, file.source);
  auto network = from_file(file.source, [&] {
    return on_device(std::make_shared<Network>(config, maps_tokenizer(file, config.maps)));
  });
  fill_on_maps(*network, file);
  return network;
}

}  // namespace addp
