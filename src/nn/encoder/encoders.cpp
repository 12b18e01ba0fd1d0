#include "nn/encoder/encoders.h"

#include "base/error.h"
#include "checkpoint/layout/published.h"
#include "model/load.h"
#include "model/presets.h"
#include "nn/torch.h"

namespace addp {

std::shared_ptr<ImageEncoder> make_encoder(const EncoderConfig& config) {
  if (config.kind == EncoderKind::kVit) return std::make_shared<Vit>(config.vit);
  return std::make_shared<ResNetEncoder>(config.resnet);
}

EncoderConfig encoder_preset(std::string_view name, const Grid& grid, std::int64_t stride) {
  EncoderConfig config;
  if (const ResNetSize* resnet = resnet_size(name)) {
    config.kind = EncoderKind::kResNet;
    config.resnet.trunk.depths = resnet->depths;
    config.resnet.trunk.width = resnet->width;
    config.resnet.trunk.pool = resnet->pool;
    config.resnet.stride = stride;
    config.resnet.width = companion_size(name).width;
    return config;
  }
  const TransformerSize& size = transformer_size(name);
  config.vit.width = size.width;
  config.vit.depth = size.depth;
  config.vit.heads = size.heads;
  config.vit.patch = stride;
  config.vit.grid = grid;
  return config;
}

std::function<std::string(const std::string&)> file_names(EncoderKind kind) {
  return [kind](const std::string& name) {
    constexpr std::string_view kPrefix = "encoder.";
    const bool flat = kind == EncoderKind::kVit && name.starts_with(kPrefix);
    return flat ? name.substr(kPrefix.size()) : name;
  };
}

VitConfig vit_config_from(const TensorMap& tensors, const std::string& source) {
  const PublishedTransformer sizes = published_transformer(tensors, source);
  if (sizes.patch == 0) {
    throw DataError("{} has no embedding of patches: its encoder does not see pixels", source);
  }
  VitConfig config;
  config.width = sizes.width;
  config.patch = sizes.patch;
  config.grid = square_grid(sizes.positions, source);
  config.depth = sizes.depth;
  config.heads = usual_heads(config.width);
  config.embedding_norm = tensors.contains("tokenizer_norm.weight");
  config.final_norm = tensors.contains("norm.weight");
  return config;
}

}  // namespace addp
