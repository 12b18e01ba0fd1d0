// UperNet (Xiao et al., "Unified perceptual parsing for scene understanding", 2018):
// pyramid pooling on the coarsest of four maps, a top-down feature pyramid, and all levels
// fused at the finest.
#pragma once

#include <array>

#include "heads/backbone/conv_layers.h"
#include "nn/kernel/dropout.h"

namespace addp {

// The map beside its means over 1x1, 2x2, 3x3 and 6x6 parts, fused.
class PyramidPooling : public torch::nn::Module {
 public:
  PyramidPooling(std::int64_t inputs, std::int64_t channels);
  Tensor forward(const Tensor& x) const;

 private:
  std::vector<std::shared_ptr<ConvNorm>> parts_;
  std::shared_ptr<ConvNorm> fuse_;
};

class UperNet : public torch::nn::Module {
 public:
  UperNet(const std::array<std::int64_t, 4>& inputs, std::int64_t channels, std::int64_t classes,
          double dropout);
  // Four maps, fine to coarse -> logits [B, classes, h, w] at the size of the finest.
  Tensor forward(const std::array<Tensor, 4>& maps, DropoutKeys* keys) const;

 private:
  double dropout_;
  std::shared_ptr<PyramidPooling> pooling_;
  std::vector<std::shared_ptr<ConvNorm>> laterals_, smooths_;  // of the three finer levels
  std::shared_ptr<ConvNorm> fuse_;
  std::shared_ptr<Conv2d> classify_;
};

// The auxiliary head: one convolution and a classifier on a single map.
class FcnHead : public torch::nn::Module {
 public:
  FcnHead(std::int64_t inputs, std::int64_t channels, std::int64_t classes, double dropout);
  Tensor forward(const Tensor& map, DropoutKeys* keys) const;

 private:
  double dropout_;
  std::shared_ptr<ConvNorm> conv_;
  std::shared_ptr<Conv2d> classify_;
};

// Zeroes whole channels of a map with probability `rate`.
Tensor drop_channels(const Tensor& x, double rate, DropoutKeys* keys);

}  // namespace addp
