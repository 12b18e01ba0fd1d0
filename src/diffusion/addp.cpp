#include "diffusion/addp.h"

#include "base/error.h"
#include "checkpoint/layout/published.h"
#include "model/load.h"
#include "model/presets.h"
#include "nn/layer/position.h"
#include "nn/layer/rows.h"
#include "nn/torch.h"

namespace addp {

namespace {

// With a gradient the encoder runs all the same: its weights get one, of zeros.
bool nothing_to_encode(const Tensor& positions) {
  return positions.size(1) == 0 && !at::GradMode::is_enabled();
}

}  // namespace

Tensor ReliableTokens::positions() const { return positions_of(masked.logical_not()); }

Addp::Addp(const AddpConfig& config) : config_(config) {
  const std::int64_t width = config.decoder_width, positions = 1 + config.grid.area();
  const auto position_set = [&](const char* name, std::int64_t columns) {
    return register_parameter(name, torch::empty({1, positions, columns}));
  };
  encoder_ = register_module("encoder", make_encoder(config.encoder));
  decoder_embed_ =
      register_module("decoder_embed", std::make_shared<Linear>(encoder_->width(), width));
  mask_token_ = register_parameter("mask_token", torch::empty({1, 1, width}));
  decoder_pos_embed_learned_ = position_set("decoder_pos_embed_learned", width);
  decoder_pos_mask_embed_ = position_set("decoder_pos_mask_embed", width);
  token_emb_ =
      register_module("token_emb", std::make_shared<Embedding>(config.vocabulary.size(), width));
  if (config.token_input != TokenInput::kNone) {
    decoder_pos_token_embed_ = position_set("decoder_pos_token_embed", width);
  }
  if (config.token_input == TokenInput::kEncoderAndDecoder) {
    if (encoder_->width() != width) {
      throw UsageError(
          "tokens for the encoder need equal widths, not {} and {}: change one of them",
          encoder_->width(), width);
    }
    pos_token_embed_ = position_set("pos_token_embed", width);
  }
  decoder_blocks_ = make_blocks(*this, "decoder_blocks", config.decoder_depth,
                                {.width = width,
                                 .heads = config.decoder_heads,
                                 .mlp_ratio = config.mlp_ratio,
                                 .dropout = config.dropout,
                                 .attention_dropout = config.attention_dropout});
  decoder_norm_ = register_module("decoder_norm", std::make_shared<LayerNorm>(width));
  mlm_layer_ = register_module("mlm_layer",
                               std::make_shared<TokenHead>(width, width, config.vocabulary.size()));
  if (config.bypass.width > 0) attach(std::make_shared<Bypass>(config.bypass));
}

void Addp::attach(std::shared_ptr<Bypass> bypass) {
  const BypassConfig& sizes = bypass->config();
  if (vit() == nullptr || sizes.skip > vit()->config().depth ||
      sizes.encoder_width != encoder_->width()) {
    throw UsageError(
        "a bypass that stands for {} blocks of width {} does not fit the encoder: make another by "
        "'addp distil'",
        sizes.skip, sizes.encoder_width);
  }
  config_.bypass = bypass->config();
  bypass_ =
      bypass_ ? replace_module("bypass", std::move(bypass)) : register_module("bypass", bypass);
}

Tensor Addp::encode(const Tensor& pixels, const ReliableTokens& reliable, DropoutKeys* keys) {
  const Tensor positions = reliable.positions();
  if (nothing_to_encode(positions)) return {};
  return encoder_->features(pixels, keys, encoder_tokens(reliable, positions), positions + 1);
}

Tensor Addp::encode_fast(const Tensor& embeddings, const ReliableTokens& reliable) const {
  const Tensor positions = reliable.positions();
  if (nothing_to_encode(positions)) return {};
  return vit()->features_from(bypass_->config().skip, bypass_->forward(embeddings, reliable.grid),
                              encoder_tokens(reliable, positions), positions + 1);
}

Tensor Addp::encoder_tokens(const ReliableTokens& reliable, const Tensor& positions) const {
  if (config_.token_input != TokenInput::kEncoderAndDecoder) return {};
  return reliable_rows(reliable, positions) +
         pick_rows(resize_positions(pos_token_embed_, config_.grid, reliable.grid)
                       .expand({positions.size(0), -1, -1}),
                   positions + 1);
}

Tensor Addp::decode(const Tensor& features, const ReliableTokens& reliable,
                    DropoutKeys* keys) const {
  const auto positions_for = [&](const Tensor& learned) {
    return resize_positions(learned, config_.grid, reliable.grid);
  };
  const std::int64_t batch = reliable.tokens.size(0);
  const Tensor positions = reliable.positions();
  // The class position always holds the mask token, but at its place among the pixels.
  Tensor content = mask_token_.expand({batch, 1 + reliable.grid.area(), -1});  // [B, 1 + L, D]
  if (features.defined()) {
    const Tensor seen = decoder_embed_->forward(features);  // [B, R, D]
    content = put_rows(content, positions + 1, seen.to(content.scalar_type()));
  }
  const Tensor masked = at::constant_pad_nd(reliable.masked, {1, 0}, false).unsqueeze(2);
  Tensor x = content + at::where(masked, positions_for(decoder_pos_mask_embed_),
                                 positions_for(decoder_pos_embed_learned_));
  if (reliable.classes.defined()) {
    // "No class" adds nothing, so that it equals leaving the classes out.
    const Tensor some = (reliable.classes != config_.vocabulary.class_position_id()).unsqueeze(1);
    const Tensor embedded =
        (token_emb_->forward(reliable.classes) * some).unsqueeze(1);  // [B, 1, D]
    x = at::cat({x.slice(1, 0, 1) + embedded.to(x.scalar_type()), x.slice(1, 1)}, 1);
  }
  if (config_.token_input != TokenInput::kNone) {
    const Tensor places = positions_for(decoder_pos_token_embed_).expand({batch, -1, -1});
    const Tensor tokens = reliable_rows(reliable, positions) + pick_rows(places, positions + 1);
    x = at::cat({x, tokens.to(x.scalar_type())}, 1);  // [B, 1 + L + R, D]
  }
  const Tensor wanted = positions_of(reliable.masked) + 1;
  return decoder_norm_->for_product(run_blocks(decoder_blocks_, x, keys, wanted));
}

Tensor Addp::logits(const Tensor& decoded) const {
  return mlm_layer_->forward(decoded, token_emb_->weight);
}

Tensor Addp::code_logits(const Tensor& decoded) const {
  return mlm_layer_->forward(decoded, token_emb_->weight, config_.vocabulary.codes);
}

Tensor Addp::reliable_rows(const ReliableTokens& reliable, const Tensor& positions) const {
  return token_emb_->forward(reliable.tokens.gather(1, positions));  // [B, R, D]
}

std::vector<std::string> addp_unused_names(const AddpConfig& config) {
  std::vector<std::string> names = {"decoder_pos_embed", "decoder_pred.*", "pos_mask_embed",
                                    "vqgan.*"};
  if (config.token_input != TokenInput::kEncoderAndDecoder) names.push_back("pos_token_embed");
  return names;
}

AddpConfig addp_config_from(const TensorMap& tensors, const std::string& source) {
  const PublishedTransformer sizes = published_transformer(tensors, source);
  AddpConfig config;
  config.encoder.vit = vit_config_from(tensors, source);
  config.vocabulary = vocabulary_of_rows(sizes.words, source);
  config.grid = square_grid(sizes.decoder_positions, source);
  config.decoder_width = sizes.decoder_width;
  config.decoder_depth = sizes.decoder_depth;
  config.decoder_heads = usual_decoder_heads(config.decoder_width);
  return config;
}

}  // namespace addp
