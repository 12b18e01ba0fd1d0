// Vision Transformer (Dosovitskiy et al. 2021) as an image encoder.
#pragma once

#include "nn/encoder/image_encoder.h"
#include "nn/layer/block.h"

namespace addp {

struct VitConfig {
  std::int64_t width = 768;
  std::int64_t depth = 12;
  std::int64_t heads = 12;
  double mlp_ratio = 4;
  std::int64_t patch = 16;     // pixels of a patch, each way
  Grid grid;                   // what the position embeddings were made for; others are resized to
  bool embedding_norm = true;  // `tokenizer_norm` in front of the blocks (pre-training only)
  bool final_norm = true;      // `norm` behind them
  double dropout = 0.1;
  double attention_dropout = 0.1;
  double drop_path = 0;
};

class PatchEmbed : public torch::nn::Module {
 public:
  PatchEmbed(std::int64_t patch, std::int64_t width);
  Tensor forward(const Tensor& pixels) const;  // [B, 3, H, W] -> [B, H/patch * W/patch, D]

 private:
  std::shared_ptr<Conv2d> proj_;
};

class Vit : public TransformerEncoder {
 public:
  explicit Vit(const VitConfig& config);

  std::int64_t width() const override { return config_.width; }
  std::int64_t stride() const override { return config_.patch; }
  const VitConfig& config() const { return config_; }

  Tensor embed(const Tensor& pixels, DropoutKeys* keys = nullptr) const override;
  // features() without dropout in two steps: what enters block number `block`, [B, 1 + L, width()],
  // and what the blocks from there on make of it, at the positions `rows`. Extra positions can join
  // the first block only.
  Tensor state_before(std::int64_t block, const Tensor& pixels) const;
  Tensor features_from(std::int64_t block, const Tensor& state, const Tensor& extra,
                       const Tensor& rows) const;
  const std::vector<std::shared_ptr<Block>>& blocks() const override { return blocks_; }

 protected:
  Tensor encode(const Tensor& pixels, DropoutKeys* keys, const Tensor& extra,
                const Tensor& rows) override;

 private:
  Grid grid_of(const Tensor& pixels) const;
  Tensor normed(const Tensor& x) const;  // in front of the blocks
  // The blocks from number `first` on, and the norm behind them.
  Tensor finish(std::int64_t first, const Tensor& x, DropoutKeys* keys, const Tensor& rows) const;

  VitConfig config_;
  Tensor cls_token_, pos_embed_;
  std::shared_ptr<PatchEmbed> patch_embed_;
  std::shared_ptr<LayerNorm> tokenizer_norm_, norm_;  // null where the configuration has none
  std::vector<std::shared_ptr<Block>> blocks_;
};

}  // namespace addp
