// The convolutional halves of the tokenizer; parameter names as in the published checkpoint.
#pragma once

#include <vector>

#include "base/random.h"
#include "nn/layer/layers.h"
#include "tokenizer/vqgan_config.h"

namespace addp {

// norm, swish, 3x3 convolution, twice; no bias. See VqganConfig::input_shortcut for the sum.
class VqganBlock : public torch::nn::Module {
 public:
  VqganBlock(std::int64_t inputs, std::int64_t outputs, bool input_shortcut, std::int64_t groups);
  Tensor forward(const Tensor& x) const;

 private:
  bool input_shortcut_;
  std::shared_ptr<GroupNorm> norm1_, norm2_;
  std::shared_ptr<Conv2d> conv1_, conv2_, nin_shortcut_;
};

using VqganBlocks = std::vector<std::shared_ptr<VqganBlock>>;

class VqganEncoder : public torch::nn::Module {
 public:
  explicit VqganEncoder(const VqganConfig& config);
  Tensor forward(const Tensor& pixels) const;  // [B, 3, H, W] -> [B, D, h, w]

 private:
  std::shared_ptr<Conv2d> conv_in_, conv_out_;
  std::vector<VqganBlocks> down_;  // fine to coarse, halved by averaging in between
  VqganBlocks mid_;
  std::shared_ptr<GroupNorm> norm_out_;
};

// What the decoder adds at full resolution; see VqganConfig::finish.
class VqganFinish : public torch::nn::Module {
 public:
  VqganFinish(std::int64_t inputs, const VqganConfig& config);
  Tensor forward(const Tensor& features) const;  // [B, C, H / S, W / S] -> [B, 3, H, W]

 private:
  std::int64_t stem_;
  std::shared_ptr<Conv2d> conv_in_, conv_out_;
  std::shared_ptr<VqganBlock> block_;
  std::shared_ptr<GroupNorm> norm_out_;
};

class VqganDecoder : public torch::nn::Module {
 public:
  explicit VqganDecoder(const VqganConfig& config);
  Tensor forward(const Tensor& embeddings) const;  // [B, D, h, w] -> [B, 3, H, W]

 private:
  std::int64_t stem_;
  bool half_chroma_;
  std::shared_ptr<Conv2d> conv_in_, conv_out_;
  VqganBlocks mid_;
  std::vector<VqganBlocks> up_;                    // indexed fine to coarse, run coarse to fine
  std::vector<std::shared_ptr<Conv2d>> upsample_;  // of level 1, 2, ...; [0] is null
  std::shared_ptr<GroupNorm> norm_out_;
  std::shared_ptr<VqganFinish> finish_;  // null where there is none
};

// Pictures whose colours are means of 2x2 pixels, enlarged again smoothly; brightness stays.
Tensor with_half_chroma(const Tensor& pixels);

// A 3x3 convolution of the picture doubled by nearest neighbours.
Tensor upsample_conv(const Tensor& x, const Tensor& weight, const Tensor& bias);

}  // namespace addp
