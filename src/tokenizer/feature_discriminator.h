// A discriminator that looks at pictures through a frozen network (Sauer et al. 2021, "Projected
// GANs converge faster"): a small head per feature map, one logit per position. The frozen
// features know textures that a patch discriminator of a few thousand pictures never learns, and
// the heads are too small to win by heart.
#pragma once

#include <span>
#include <vector>

#include "nn/layer/layers.h"

namespace addp {

// A convolution whose largest singular value is kept at one (Miyato et al. 2018), estimated by a
// power iteration per training pass.
class SpectralConv2d : public torch::nn::Module {
 public:
  SpectralConv2d(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel);
  Tensor forward(const Tensor& x);

 private:
  Tensor weight_, bias_, left_;  // left_: the singular vector's estimate [outputs]
  std::int64_t padding_;
};

class FeatureDiscriminator : public torch::nn::Module {
 public:
  // The channels of the feature maps, and those of the heads.
  FeatureDiscriminator(std::span<const std::int64_t> channels, std::int64_t width);
  // One map of logits [B, 1, h, w] per feature map.
  std::vector<Tensor> forward(std::span<const Tensor> maps);

 private:
  struct Head {
    std::shared_ptr<SpectralConv2d> in, middle, out;
  };
  std::vector<Head> heads_;
};

}  // namespace addp
