#include "heads/backbone/backbone.h"

#include "base/error.h"
#include "heads/backbone/backbone_json.h"
#include "model/presets.h"
#include "nn/layer/position.h"
#include "nn/torch.h"
#include "predictor/mage_file.h"

namespace addp {
namespace {

constexpr const char* kPositions = "pos_embed";
constexpr const char* kTokenPositions = "token_emb.position_embeddings.weight";

bool holds_tokens(const ModelFile& file) {
  return file.foreign() ? file.tensors.contains(kTokenPositions) : file.kind == "predictor";
}

// The file's tensors that this encoder has, too.
TensorMap shared_tensors(const ImageEncoder& encoder, const ModelFile& file,
                         const std::function<std::string(const std::string&)>& file_name) {
  TensorMap own;
  for (const auto& item : state_of(encoder, file_name)) {
    const auto found = file.tensors.find(item.first);
    if (found != file.tensors.end()) own.insert(*found);
  }
  return own;
}

TensorView resized(const TensorView& positions, const Grid& from, const Grid& to) {
  const Tensor rows = to_torch(positions);
  if (rows.dim() == 3) return to_view(resize_positions(rows, from, to));
  return to_view(resize_positions(rows.unsqueeze(0), from, to).squeeze(0));
}

}  // namespace

std::int64_t BackboneConfig::width() const {
  return input == BackboneInput::kTokens ? tokens.width : encoder.width();
}

std::int64_t BackboneConfig::depth() const {
  if (input == BackboneInput::kTokens) return tokens.depth;
  return encoder.kind == EncoderKind::kVit ? encoder.vit.depth : 0;
}

std::int64_t BackboneConfig::heads() const {
  return input == BackboneInput::kTokens ? tokens.heads : encoder.vit.heads;
}

Grid BackboneConfig::grid() const {
  return input == BackboneInput::kTokens ? tokens.grid : encoder.vit.grid;
}

BackboneConfig backbone_preset(std::string_view name, const Grid& grid, std::int64_t patch) {
  BackboneConfig config;
  config.encoder = encoder_preset(name, grid, patch);
  return config;
}

BackboneConfig token_backbone_preset(std::string_view name, const Grid& grid,
                                     const Vqgan& tokenizer) {
  BackboneConfig config;
  config.input = BackboneInput::kTokens;
  config.tokens = token_encoder_config(
      mage_preset(name, {.codes = tokenizer.config().codes, .class_ids = 1}, grid));
  return config;
}

BackboneConfig backbone_config(const ModelFile& file) {
  require_kind(file, {"addp", "classifier", "predictor"});
  if (file.kind == "classifier" && !file.foreign()) {
    return parse_config<BackboneConfig>(file.config.value("backbone", nlohmann::json::object()),
                                        file.source);
  }
  BackboneConfig config;
  if (holds_tokens(file)) {
    config.input = BackboneInput::kTokens;
    config.tokens =
        token_encoder_config(file.foreign() ? mage_config_from(file.tensors, file.source)
                                            : parse_config<MageConfig>(file.config, file.source));
  } else if (file.foreign()) {
    config.encoder.vit = vit_config_from(file.tensors, file.source);
  } else {
    config.encoder = parse_config<EncoderConfig>(
        file.config.value("encoder", nlohmann::json::object()), file.source);
  }
  return config;
}

BackboneConfig fine_tuning_backbone(BackboneConfig pretrained, const Grid& grid, double drop_path) {
  VitConfig& vit = pretrained.encoder.vit;
  vit.grid = grid;
  vit.embedding_norm = vit.final_norm = false;
  vit.dropout = vit.attention_dropout = 0;
  vit.drop_path = drop_path;
  pretrained.encoder.resnet.trunk.drop_path = drop_path;
  TokenEncoderConfig& tokens = pretrained.tokens;
  tokens.grid = grid;
  tokens.final_norm = false;
  tokens.dropout = tokens.attention_dropout = 0;
  tokens.drop_path = drop_path;
  return pretrained;
}

std::shared_ptr<ImageEncoder> make_backbone(const BackboneConfig& config,
                                            std::shared_ptr<const Vqgan> tokenizer) {
  if (config.input == BackboneInput::kPixels) return make_encoder(config.encoder);
  return std::make_shared<TokenEncoder>(config.tokens, std::move(tokenizer));
}

std::function<std::string(const std::string&)> backbone_file_names(const BackboneConfig& config) {
  return file_names(config.is_transformer() ? EncoderKind::kVit : EncoderKind::kResNet);
}

LoadReport load_backbone(ImageEncoder& encoder, const BackboneConfig& config,
                         const ModelFile& file) {
  const BackboneConfig before = backbone_config(file);
  if (before.input != config.input) {
    throw DataError("{}: its encoder takes {}, the one wanted {}; give another model", file.source,
                    before.input == BackboneInput::kTokens ? "tokens" : "pixels",
                    config.input == BackboneInput::kTokens ? "tokens" : "pixels");
  }
  const auto names = backbone_file_names(config);
  const auto file_name = [&](const std::string& name) { return names("encoder." + name); };
  TensorMap own = shared_tensors(encoder, file, file_name);
  if (own.contains(kPositions)) {
    own[kPositions] = resized(own[kPositions], before.encoder.vit.grid, config.encoder.vit.grid);
  }
  if (own.contains(kTokenPositions)) {
    own[kTokenPositions] = resized(own[kTokenPositions], before.tokens.grid, config.tokens.grid);
  }
  return load_strictly(encoder, own, {.source = file.source, .file_name = file_name});
}

Grid grid_of_side(std::int64_t side, std::int64_t stride) {
  if (side < stride || side % stride != 0) {
    throw UsageError("pictures of {} pixels cannot be cut into cells of {}: choose another --size",
                     side, stride);
  }
  return {side / stride, side / stride};
}

Tensor pool_features(const Tensor& features) { return features.slice(1, 1).mean(1); }

}  // namespace addp
