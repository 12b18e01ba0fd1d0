// MAGE (Li et al. 2023): a masked transformer over tokens. ADDP uses it as the token predictor q(z
// | reliable tokens); it is trained by itself beforehand.
#pragma once

#include <string>

#include "checkpoint/format/tensor.h"
#include "nn/layer/block.h"
#include "nn/layer/token_head.h"
#include "nn/layer/vocabulary.h"

namespace addp {

// A transformer over tokens.
struct TokenTransformerConfig {
  Vocabulary vocabulary;
  Grid grid;  // what the position embeddings were made for; other grids resize them
  std::int64_t width = 768;
  std::int64_t depth = 12;
  std::int64_t heads = 12;
  double mlp_ratio = 4;
  double dropout = 0.1;
  double attention_dropout = 0.1;
};

struct MageConfig : TokenTransformerConfig {
  std::int64_t decoder_width = 768;
  std::int64_t decoder_depth = 8;
  std::int64_t decoder_heads = 16;
};

// The sizes of a foreign checkpoint, from its shapes. The number of heads leaves no trace in them:
// published widths have the published heads, others model/presets.h's guess.
MageConfig mage_config_from(const TensorMap& tensors, const std::string& source);

// word + position embeddings, LayerNorm; the names of BERT, as the checkpoint has them.
class TokenEmbedding : public torch::nn::Module {
 public:
  TokenEmbedding(const Vocabulary& vocabulary, const Grid& grid, std::int64_t width);

  // ids [B, 1 + L] -> [B, 1 + L, D]
  Tensor forward(const Tensor& ids, const Grid& grid) const;
  const Tensor& words() const { return word_embeddings_->weight; }  // [V, D]

 private:
  Grid grid_;
  std::shared_ptr<Embedding> word_embeddings_, position_embeddings_;
  std::shared_ptr<LayerNorm> norm_;
};

class Mage : public torch::nn::Module {
 public:
  explicit Mage(const MageConfig& config);
  const MageConfig& config() const { return config_; }

  // tokens [B, L] int64, masked [B, L] bool -> features of the tokens at `places` [B, N], [B, N,
  // D']; undefined: of all L. Masked tokens are not looked at. `kept` [B, M] are the positions that
  // go through the encoder (0 is the class position, which must be among them); undefined: all of
  // them, as when it serves as predictor. `classes` [B] are ids of the vocabulary for the class
  // position; undefined: no class.
  Tensor features(const Tensor& tokens, const Tensor& masked, const Grid& grid,
                  DropoutKeys* keys = nullptr, const Tensor& kept = {}, const Tensor& classes = {},
                  const Tensor& places = {}) const;
  // The predictor: logits and probabilities over the codes, [B, L, codes] or [B, N, codes].
  Tensor code_logits(const Tensor& tokens, const Tensor& masked, const Grid& grid,
                     DropoutKeys* keys = nullptr, const Tensor& classes = {},
                     const Tensor& places = {}) const;
  Tensor distribution(const Tensor& tokens, const Tensor& masked, const Grid& grid,
                      DropoutKeys* keys = nullptr, const Tensor& classes = {},
                      const Tensor& places = {}) const;
  // features [..., D'] -> logits over the whole vocabulary.
  Tensor logits(const Tensor& features) const;

 private:
  MageConfig config_;
  Tensor decoder_pos_embed_learned_;
  std::shared_ptr<TokenEmbedding> token_emb_;
  std::vector<std::shared_ptr<Block>> blocks_, decoder_blocks_;
  std::shared_ptr<LayerNorm> norm_, decoder_norm_;
  std::shared_ptr<Linear> decoder_embed_;
  std::shared_ptr<TokenHead> mlm_layer_;
};

// What published MAGE checkpoints carry although the predictor does not use it.
const std::vector<std::string>& mage_unused_names();

}  // namespace addp
