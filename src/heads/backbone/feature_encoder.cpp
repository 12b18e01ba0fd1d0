#include "heads/backbone/feature_encoder.h"

#include "base/error.h"
#include "machine/machine.h"
#include "nn/layer/pixels.h"
#include "nn/torch.h"
#include "tokenizer/vqgan_file.h"

namespace addp {
namespace {

std::int64_t trained_size(const ModelFile& file, const BackboneConfig& config,
                          const ImageEncoder& encoder) {
  constexpr std::int64_t kUsual = 224;
  const std::int64_t noted = file.config.value("size", std::int64_t{0});
  if (noted > 0) return noted;
  if (config.input == BackboneInput::kTokens) return config.tokens.grid.width * encoder.stride();
  return config.is_transformer() ? config.encoder.vit.grid.width * encoder.stride() : kUsual;
}

}  // namespace

Tensor FeatureEncoder::of(const Tensor& pixels) const {
  torch::NoGradGuard guard;
  return pool_features(network->features(normalise_pixels(pixels))).to(torch::kFloat32);
}

FeatureEncoder open_feature_encoder(const std::filesystem::path& model,
                                    const std::filesystem::path& tokenizer_path) {
  const ModelFile file = open_model(model, {"addp", "classifier", "predictor"});
  const BackboneConfig config = backbone_config(file);
  std::shared_ptr<const Vqgan> tokenizer;
  if (config.input == BackboneInput::kTokens) {
    tokenizer = tokenizer_path.empty() ? tokenizer_in(file) : load_tokenizer(tokenizer_path);
    if (!tokenizer) {
      throw UsageError("{}: takes tokens and has no tokenizer inside; name one with --tokenizer",
                       model);
    }
  }
  FeatureEncoder encoder;
  encoder.network = on_device(make_backbone(config, tokenizer));
  load_backbone(*encoder.network, config, file);
  encoder.network->eval();
  encoder.size = trained_size(file, config, *encoder.network);
  return encoder;
}

}  // namespace addp
