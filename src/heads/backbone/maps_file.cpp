#include "heads/backbone/maps_file.h"

#include "base/error.h"
#include "model/load.h"
#include "nn/torch.h"
#include "tokenizer/vqgan_file.h"

namespace addp {

void save_on_maps(const std::filesystem::path& path, const std::string& kind,
                  const torch::nn::Module& network, const Maps& maps, nlohmann::json config,
                  const std::string& provenance) {
  ModelFile file{.kind = kind, .tensors = state_of(network), .config = std::move(config)};
  if (maps.tokenizer()) put_tokenizer(*maps.tokenizer(), file);
  save_model(path, file, provenance);
}

ModelFile open_on_maps(const std::filesystem::path& path, const std::string& kind) {
  ModelFile file = open_model(path, {kind});
  if (file.kind != kind) {
    throw DataError("{} is no {}: give a model that 'addp train {}' wrote", file.source, kind,
                    kind);
  }
  return file;
}

std::shared_ptr<const Vqgan> maps_tokenizer(const ModelFile& file, const MapsConfig& config) {
  return config.backbone.input == BackboneInput::kTokens ? tokenizer_in(file) : nullptr;
}

void fill_on_maps(torch::nn::Module& network, const ModelFile& file) {
  load_strictly(network, file.tensors,
                {.source = file.source, .unused = {std::string(kTokenizerInside) + "*"}});
  network.eval();
}

}  // namespace addp
