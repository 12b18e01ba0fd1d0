// A transformer over the tokens of a frozen tokenizer behind the interface of an image encoder:
// what the paper compares pixels with, and MAGE's encoder as recognition takes it. It is the one
// image encoder that knows a tokenizer; ADDP's own never do.
#pragma once

#include "nn/encoder/image_encoder.h"
#include "predictor/mage.h"
#include "tokenizer/vqgan.h"

namespace addp {

struct TokenEncoderConfig : TokenTransformerConfig {
  bool final_norm = true;  // `norm` behind the blocks
  double drop_path = 0;
};

// The encoder half of a predictor.
TokenEncoderConfig token_encoder_config(const MageConfig& predictor);

// Parameters are named as in MAGE: token_emb, blocks, norm. The tokenizer is not among them.
class TokenEncoder : public TransformerEncoder {
 public:
  TokenEncoder(const TokenEncoderConfig& config, std::shared_ptr<const Vqgan> tokenizer);

  std::int64_t width() const override { return config_.width; }
  std::int64_t stride() const override { return tokenizer_->factor(); }
  const TokenEncoderConfig& config() const { return config_; }
  const std::shared_ptr<const Vqgan>& tokenizer() const { return tokenizer_; }

  Tensor embed(const Tensor& pixels, DropoutKeys* keys = nullptr) const override;
  const std::vector<std::shared_ptr<Block>>& blocks() const override { return blocks_; }

 protected:
  Tensor encode(const Tensor& pixels, DropoutKeys* keys, const Tensor& extra,
                const Tensor& rows) override;

 private:
  TokenEncoderConfig config_;
  std::shared_ptr<const Vqgan> tokenizer_;
  std::shared_ptr<TokenEmbedding> token_emb_;
  std::vector<std::shared_ptr<Block>> blocks_;
  std::shared_ptr<LayerNorm> norm_;
};

}  // namespace addp
