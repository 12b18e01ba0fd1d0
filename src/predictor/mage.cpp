#include "predictor/mage.h"

#include "base/error.h"
#include "checkpoint/layout/published.h"
#include "model/load.h"
#include "model/presets.h"
#include "nn/layer/position.h"
#include "nn/layer/rows.h"
#include "nn/torch.h"

namespace addp {
namespace {

// The class position and those of tokens that are not masked: [B, 1 + R].
Tensor visible_positions(const Tensor& masked) {
  return at::constant_pad_nd(positions_of(masked.logical_not()) + 1, {1, 0}, 0);
}

}  // namespace

MageConfig mage_config_from(const TensorMap& tensors, const std::string& source) {
  const PublishedTransformer sizes = published_transformer(tensors, source);
  if (sizes.decoder_depth == 0) throw DataError("{} has no decoder: it is no predictor", source);
  MageConfig config;
  config.vocabulary = vocabulary_of_rows(sizes.words, source);
  config.grid = square_grid(sizes.token_positions, source);
  config.width = sizes.width;
  config.depth = sizes.depth;
  config.decoder_width = sizes.decoder_width;
  config.decoder_depth = sizes.decoder_depth;
  config.heads = usual_heads(config.width);
  config.decoder_heads = usual_decoder_heads(config.decoder_width);
  return config;
}

TokenEmbedding::TokenEmbedding(const Vocabulary& vocabulary, const Grid& grid, std::int64_t width)
    : grid_(grid) {
  word_embeddings_ =
      register_module("word_embeddings", std::make_shared<Embedding>(vocabulary.size(), width));
  position_embeddings_ =
      register_module("position_embeddings", std::make_shared<Embedding>(1 + grid.area(), width));
  norm_ = register_module("LayerNorm", std::make_shared<LayerNorm>(width));
}

Tensor TokenEmbedding::forward(const Tensor& ids, const Grid& grid) const {
  const Tensor positions = resize_positions(position_embeddings_->weight.unsqueeze(0), grid_, grid);
  return norm_->forward(word_embeddings_->forward(ids) + positions);
}

Mage::Mage(const MageConfig& config) : config_(config) {
  const std::int64_t width = config.width, decoder_width = config.decoder_width;
  const BlockConfig block{.width = width,
                          .heads = config.heads,
                          .mlp_ratio = config.mlp_ratio,
                          .dropout = config.dropout,
                          .attention_dropout = config.attention_dropout};
  BlockConfig decoder_block = block;
  decoder_block.width = decoder_width;
  decoder_block.heads = config.decoder_heads;

  token_emb_ = register_module(
      "token_emb", std::make_shared<TokenEmbedding>(config.vocabulary, config.grid, width));
  blocks_ = make_blocks(*this, "blocks", config.depth, block);
  norm_ = register_module("norm", std::make_shared<LayerNorm>(width));
  decoder_embed_ = register_module("decoder_embed", std::make_shared<Linear>(width, decoder_width));
  decoder_pos_embed_learned_ = register_parameter(
      "decoder_pos_embed_learned", torch::empty({1, 1 + config.grid.area(), decoder_width}));
  decoder_blocks_ = make_blocks(*this, "decoder_blocks", config.decoder_depth, decoder_block);
  decoder_norm_ = register_module("decoder_norm", std::make_shared<LayerNorm>(decoder_width));
  mlm_layer_ = register_module(
      "mlm_layer", std::make_shared<TokenHead>(decoder_width, width, config.vocabulary.size()));
}

Tensor Mage::features(const Tensor& tokens, const Tensor& masked, const Grid& grid,
                      DropoutKeys* keys, const Tensor& kept, const Tensor& classes,
                      const Tensor& places) const {
  const Vocabulary& vocabulary = config_.vocabulary;
  const std::int64_t batch = tokens.size(0);
  Tensor ids = at::constant_pad_nd(tokens.masked_fill(masked, vocabulary.mask_id()), {1, 0},
                                   vocabulary.class_position_id());  // [B, 1 + L]
  if (classes.defined()) ids.select(1, 0).copy_(classes);
  Tensor x = token_emb_->forward(ids, grid);
  x = pick_rows(x, kept);
  // Where not all results are asked for, nor are the encoder's masked positions: see below.
  const Tensor seen = kept.defined() || !places.defined() ? Tensor() : visible_positions(masked);
  x = run_blocks(blocks_, dropout(x, config_.dropout, keys), keys, seen);
  x = decoder_embed_->forward(norm_->for_product(x));

  // Every masked position, dropped or not, starts from the class position's feature: it is the
  // encoder's summary of what could be seen, where a mask token would be a constant.
  const Tensor summary = x.slice(1, 0, 1);  // [B, 1, D']
  const Tensor& there = kept.defined() ? kept : seen;
  Tensor full =
      there.defined() ? put_rows(summary.expand({batch, 1 + grid.area(), -1}), there, x) : x;
  const Tensor hidden = at::constant_pad_nd(masked, {1, 0}, false).unsqueeze(2);  // [B, 1 + L, 1]
  full = at::where(hidden, summary, full) +
         resize_positions(decoder_pos_embed_learned_, config_.grid, grid);
  const Tensor wanted = places.defined() ? places + 1 : Tensor();
  full = run_blocks(decoder_blocks_, full, keys, wanted);
  return decoder_norm_->for_product(places.defined() ? full : full.slice(1, 1));
}

Tensor Mage::code_logits(const Tensor& tokens, const Tensor& masked, const Grid& grid,
                         DropoutKeys* keys, const Tensor& classes, const Tensor& places) const {
  return mlm_layer_->forward(features(tokens, masked, grid, keys, {}, classes, places),
                             token_emb_->words(), config_.vocabulary.codes);
}

Tensor Mage::distribution(const Tensor& tokens, const Tensor& masked, const Grid& grid,
                          DropoutKeys* keys, const Tensor& classes, const Tensor& places) const {
  return code_logits(tokens, masked, grid, keys, classes, places).softmax(-1, torch::kFloat32);
}

Tensor Mage::logits(const Tensor& features) const {
  return mlm_layer_->forward(features, token_emb_->words());
}

const std::vector<std::string>& mage_unused_names() {
  // MAE's remains, and a constant table of position numbers.
  static const std::vector<std::string> kNames = {"cls_token",
                                                  "pos_embed",
                                                  "mask_token",
                                                  "decoder_pos_embed",
                                                  "token_emb.position_ids",
                                                  "patch_embed.*",
                                                  "decoder_pred.*",
                                                  "vqgan.*"};
  return kNames;
}

}  // namespace addp
