#include "predictor/mage_file.h"

#include "base/error.h"
#include "machine/machine.h"
#include "nn/torch.h"

namespace addp {

MageConfig mage_preset(std::string_view name, const Vocabulary& vocabulary, const Grid& grid) {
  return mage_config(transformer_size(name), vocabulary, grid);
}

MageConfig mage_config(const TransformerSize& size, const Vocabulary& vocabulary,
                       const Grid& grid) {
  MageConfig config;
  config.vocabulary = vocabulary;
  config.grid = grid;
  config.width = size.width;
  config.depth = size.depth;
  config.heads = size.heads;
  config.decoder_width = size.decoder_width;
  config.decoder_depth = size.decoder_depth;
  config.decoder_heads = size.decoder_heads;
  return config;
}

std::shared_ptr<Mage> load_predictor(const std::filesystem::path& path, LoadReport* report,
                                     HeadCounts heads) {
  return load_predictor(open_model(path, {"predictor"}), report, heads);
}

std::shared_ptr<Mage> load_predictor(const ModelFile& file, LoadReport* report, HeadCounts heads) {
  require_kind(file, {"predictor"});
  MageConfig config = file.foreign() ? mage_config_from(file.tensors, file.source)
                                     : parse_config<MageConfig>(file.config, file.source);
  if (heads.encoder > 0) config.heads = heads.encoder;
  if (heads.decoder > 0) config.decoder_heads = heads.decoder;
  auto network = from_file(file.source, [&] { return on_device(std::make_shared<Mage>(config)); });
  const LoadReport loaded =
      load_strictly(*network, file.tensors, {.source = file.source, .unused = mage_unused_names()});
  if (report != nullptr) *report = loaded;
  for (Tensor& parameter : network->parameters()) parameter.set_requires_grad(false);
  network->eval();
  return network;
}

void require_codes(const Vocabulary& vocabulary, const Vqgan& tokenizer,
                   const std::string& source) {
  if (vocabulary.codes == tokenizer.config().codes) return;
  throw DataError(
      "{}: was made for {} codes, the tokenizer has {}; give the tokenizer it was trained with",
      source, vocabulary.codes, tokenizer.config().codes);
}

void save_predictor(const std::filesystem::path& path, const Mage& predictor,
                    const Vqgan& tokenizer, const std::string& provenance) {
  ModelFile file{.kind = "predictor", .tensors = state_of(predictor), .config = predictor.config()};
  put_tokenizer(tokenizer, file);
  save_model(path, file, provenance);
}

}  // namespace addp
