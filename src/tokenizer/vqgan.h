// The VQ tokenizer (Esser et al. 2021, in the variant that MaskGIT and MAGE publish): pictures to a
// grid of codes and back. Pictures are [B, 3, H, W] in [0, 1]; H and W are any multiples of
// factor(). A loaded tokenizer is used by const methods only and may be shared between threads.
#pragma once

#include "nn/layer/layers.h"
#include "tokenizer/vqgan_config.h"
#include "tokenizer/vqgan_layers.h"

namespace addp {

class Codebook : public torch::nn::Module {
 public:
  explicit Codebook(const VqganConfig& config);

  Tensor vectors() const;                      // [K, D]; unit vectors where so configured
  Tensor nearest(const Tensor& latent) const;  // [B, D, h, w] -> ids [B, h * w]

  std::shared_ptr<Embedding> embedding;

 private:
  bool unit_;
};

// The quantizer as training sees it.
struct Quantized {
  Tensor ids;            // [B, h * w]
  Tensor embeddings;     // [B, D, h, w]; gradients pass through to the latent ("straight through")
  Tensor codebook_loss;  // moves the codes towards the features
  Tensor commitment_loss;  // and the features towards the codes
};

class Vqgan : public torch::nn::Module {
 public:
  explicit Vqgan(const VqganConfig& config);

  const VqganConfig& config() const { return config_; }
  std::int64_t factor() const { return config_.factor(); }
  // The token grid of a picture; a UsageError when its size is no multiple of factor().
  Grid grid_of(const Tensor& pixels) const;

  Tensor latent(const Tensor& pixels) const;  // [B, 3, H, W] -> [B, D, h, w], before quantization
  Tensor encode(const Tensor& pixels) const;  // [B, 3, H, W] -> ids [B, h * w]
  Tensor embed(const Tensor& ids, const Grid& grid) const;       // ids -> [B, D, h, w]
  Tensor decode(const Tensor& embeddings) const;                 // [B, D, h, w] -> [B, 3, H, W]
  Tensor decode_ids(const Tensor& ids, const Grid& grid) const;  // [B, h * w] -> [B, 3, H, W]
  Tensor codebook() const { return quantize_->vectors(); }       // [K, D]

  Quantized quantize(const Tensor& latent) const;

  // Before training: random features have much in common, and on the sphere of unit codes next to
  // nothing else, so that all codes would start in one spot and take hundreds of steps to leave it.
  // What the features of these pictures have in common is taken away, and the codes start on them.
  void start_codes_on(const Tensor& pixels);

  // Frees the encoder of a tokenizer that will only decode; to encode is a UsageError from then on.
  void forget_encoder();

 private:
  VqganConfig config_;
  std::shared_ptr<VqganEncoder> encoder_;  // null where it was forgotten
  std::shared_ptr<VqganDecoder> decoder_;
  std::shared_ptr<Codebook> quantize_;
};

// A copy of a trained tokenizer whose decoder ends as `ending` says (VqganConfig's finish and
// half_chroma). A new finish adds nothing until it is trained.
std::shared_ptr<Vqgan> with_ending(const Vqgan& tokenizer, const VqganConfig& ending,
                                   const RandomStream& stream);

// Weights for training from scratch.
void initialise_vqgan(Vqgan& tokenizer, const RandomStream& stream);

// A row of cells as a grid: [B, L, D] -> [B, D, h, w], channels last.
Tensor to_grid(const Tensor& rows, const Grid& grid);

}  // namespace addp
