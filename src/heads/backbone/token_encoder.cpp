#include "heads/backbone/token_encoder.h"

#include "base/error.h"
#include "nn/layer/pixels.h"
#include "nn/torch.h"

namespace addp {

TokenEncoderConfig token_encoder_config(const MageConfig& predictor) {
  return {static_cast<const TokenTransformerConfig&>(predictor)};
}

TokenEncoder::TokenEncoder(const TokenEncoderConfig& config, std::shared_ptr<const Vqgan> tokenizer)
    : config_(config), tokenizer_(std::move(tokenizer)) {
  if (!tokenizer_) throw UsageError("an encoder of tokens needs a tokenizer: name one");
  if (tokenizer_->config().codes != config.vocabulary.codes) {
    throw DataError("the encoder knows {} codes, the tokenizer has {}: they do not belong together",
                    config.vocabulary.codes, tokenizer_->config().codes);
  }
  token_emb_ = register_module(
      "token_emb", std::make_shared<TokenEmbedding>(config.vocabulary, config.grid, config.width));
  blocks_ = make_blocks(*this, "blocks", config.depth,
                        {.width = config.width,
                         .heads = config.heads,
                         .mlp_ratio = config.mlp_ratio,
                         .dropout = config.dropout,
                         .attention_dropout = config.attention_dropout,
                         .drop_path = config.drop_path});
  if (config.final_norm) norm_ = register_module("norm", std::make_shared<LayerNorm>(config.width));
}

Tensor TokenEncoder::embed(const Tensor& pixels, DropoutKeys* keys) const {
  Tensor ids;
  {
    torch::NoGradGuard guard;
    ids = tokenizer_->encode(denormalise_pixels(pixels));  // [B, L]
  }
  const Tensor all =
      at::constant_pad_nd(ids, {1, 0}, config_.vocabulary.class_position_id());  // [B, 1 + L]
  return dropout(token_emb_->forward(all, tokenizer_->grid_of(pixels)), config_.dropout, keys);
}

Tensor TokenEncoder::encode(const Tensor& pixels, DropoutKeys* keys, const Tensor& extra,
                            const Tensor& rows) {
  if (extra.defined()) throw UsageError("an encoder of tokens takes no further positions");
  const Tensor x = run_blocks(blocks_, embed(pixels, keys), keys, rows);
  return norm_ ? norm_->forward(x) : x;
}

}  // namespace addp
