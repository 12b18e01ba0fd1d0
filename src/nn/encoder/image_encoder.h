// What ADDP asks of an image encoder. It sees pixels only: nothing behind this interface knows the
// tokenizer, so a trained encoder goes unchanged into a classifier or a detector.
#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "nn/kernel/dropout.h"
#include "nn/types.h"

namespace addp {

class Block;

class ImageEncoder : public torch::nn::Module {
 public:
  // pixels [B, 3, H, W], normalised (nn/layer/pixels.h), H and W multiples of stride() -> features
  // [B, 1 + L, width()], the class position first, then the H/stride() x W/stride() grid by rows.
  //
  // `extra` [B, M, width()] are embedded positions that take part in the encoder's attention and
  // are not returned (the ablation that feeds tokens to the encoder, too); an encoder without
  // attention throws UsageError when it gets any. `rows` [B, N] are the positions that are wanted,
  // [B, N, width()]; undefined: all.
  Tensor features(const Tensor& pixels, DropoutKeys* keys = nullptr, const Tensor& extra = {},
                  const Tensor& rows = {}) {
    return encode(pixels, keys, extra, rows);
  }

  virtual std::int64_t width() const = 0;
  virtual std::int64_t stride() const = 0;

 protected:
  virtual Tensor encode(const Tensor& pixels, DropoutKeys* keys, const Tensor& extra,
                        const Tensor& rows) = 0;
};

// A transformer whose parts heads can reach: those that need the layers in between, or another kind
// of attention in them.
class TransformerEncoder : public ImageEncoder {
 public:
  // [B, 1 + L, width()], positions included: what the blocks are given.
  virtual Tensor embed(const Tensor& pixels, DropoutKeys* keys = nullptr) const = 0;
  virtual const std::vector<std::shared_ptr<Block>>& blocks() const = 0;
};

}  // namespace addp
