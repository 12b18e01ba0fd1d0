// The ADDP network: an image encoder that sees noisy pixels, and a token decoder that predicts the
// tokens behind them (Eq. 2).
#pragma once

#include <string>
#include <vector>

#include "checkpoint/format/tensor.h"
#include "diffusion/bypass.h"
#include "diffusion/options.h"
#include "nn/encoder/encoders.h"
#include "nn/layer/token_head.h"
#include "nn/layer/vocabulary.h"

namespace addp {

struct AddpConfig {
  EncoderConfig encoder;
  Vocabulary vocabulary;
  Grid grid;  // of the tokens that the decoder's positions were made for; others resize them
  std::int64_t decoder_width = 768;
  std::int64_t decoder_depth = 8;
  std::int64_t decoder_heads = 16;
  double mlp_ratio = 4;
  double dropout = 0.1;
  double attention_dropout = 0.1;
  TokenInput token_input = TokenInput::kDecoder;
  BypassConfig bypass{};
};

// The reliable tokens of a batch. All samples have the same number of them.
struct ReliableTokens {
  Tensor tokens;  // [B, L] int64; masked ones are not looked at
  Tensor masked;  // [B, L] bool, true where unreliable
  Grid grid;
  Tensor classes{};  // [B] ids of the vocabulary, for class-conditional networks; undefined: none

  Tensor positions() const;  // [B, R]
};

class Addp : public torch::nn::Module {
 public:
  explicit Addp(const AddpConfig& config);
  const AddpConfig& config() const { return config_; }
  ImageEncoder& encoder() { return *encoder_; }
  // The encoder where it is a ViT, else null.
  const Vit* vit() const { return dynamic_cast<const Vit*>(encoder_.get()); }
  // What stands in for pixels in fast sampling; null: nothing does.
  const Bypass* bypass() const { return bypass_.get(); }
  void attach(std::shared_ptr<Bypass> bypass);

  // normalised pixels [B, 3, H, W] -> e_t at the R reliable positions, [B, R, D]: of the others
  // nothing reaches the decoder. Undefined where there are none and no gradient is asked for.
  Tensor encode(const Tensor& pixels, const ReliableTokens& reliable, DropoutKeys* keys = nullptr);
  // The same without pixels, from the embeddings [B, L, C] that they would be decoded from; needs a
  // bypass.
  Tensor encode_fast(const Tensor& embeddings, const ReliableTokens& reliable) const;
  // e_t -> decoder features at the U unreliable positions, [B, U, D'], ascending. An undefined e_t
  // is allowed when every token is masked.
  Tensor decode(const Tensor& features, const ReliableTokens& reliable,
                DropoutKeys* keys = nullptr) const;
  // decoder features [..., D'] -> logits over the vocabulary, or over the codes alone.
  Tensor logits(const Tensor& decoded) const;
  Tensor code_logits(const Tensor& decoded) const;

 private:
  // What the encoder is given beside pixels, [B, R, D]; undefined: nothing.
  Tensor encoder_tokens(const ReliableTokens& reliable, const Tensor& positions) const;
  Tensor reliable_rows(const ReliableTokens& reliable, const Tensor& positions) const;

  AddpConfig config_;
  std::shared_ptr<ImageEncoder> encoder_;
  std::shared_ptr<Bypass> bypass_;
  std::shared_ptr<Linear> decoder_embed_;
  std::shared_ptr<Embedding> token_emb_;
  Tensor mask_token_;
  // The three sets of positions: of pixel features, of masked positions, of token embeddings; and
  // the one of tokens that enter the encoder.
  Tensor decoder_pos_embed_learned_, decoder_pos_mask_embed_, decoder_pos_token_embed_;
  Tensor pos_token_embed_;
  std::vector<std::shared_ptr<Block>> decoder_blocks_;
  std::shared_ptr<LayerNorm> decoder_norm_;
  std::shared_ptr<TokenHead> mlm_layer_;
};

// What published checkpoints carry although nothing uses it.
std::vector<std::string> addp_unused_names(const AddpConfig& config);
// The sizes of a published checkpoint, from its shapes.
AddpConfig addp_config_from(const TensorMap& tensors, const std::string& source);

}  // namespace addp
