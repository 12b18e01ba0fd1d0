// Convolutional layers of the dense heads. Maps are [B, C, H, W] in channels-last memory.
//
// The norm is a LayerNorm over the channels of each place, as in ViTDet's pyramid and heads. The
// papers' synchronised batch norm would make a result depend on how a batch is divided among
// processes and parts, and fails on the one cell that pyramid pooling makes of a picture.
#pragma once

#include "nn/layer/layers.h"

namespace addp {

class MapNorm : public torch::nn::Module {
 public:
  explicit MapNorm(std::int64_t channels);
  Tensor forward(const Tensor& x) const;

 private:
  std::shared_ptr<LayerNorm> norm_;
};

// Convolution that keeps the size, norm and, unless told otherwise, ReLU.
class ConvNorm : public torch::nn::Module {
 public:
  ConvNorm(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel, bool relu = true);
  Tensor forward(const Tensor& x) const;

 private:
  bool relu_;
  std::shared_ptr<Conv2d> conv_;
  std::shared_ptr<MapNorm> norm_;
};

// The transposed convolution that doubles both sides, 2x2 with stride 2.
class UpConv : public torch::nn::Module {
 public:
  UpConv(std::int64_t inputs, std::int64_t outputs);
  Tensor forward(const Tensor& x) const;

  Tensor weight, bias;  // [inputs, outputs, 2, 2]
};

// A map from one stride to another by the simple means of ViTDet and BEiT: transposed
// convolutions (norm and GELU between them) towards finer maps, max pooling towards coarser ones.
// The ratio is a power of two; channels stay when the map grows coarser, and halve at each
// doubling with `narrowing`.
class Rescale : public torch::nn::Module {
 public:
  Rescale(std::int64_t channels, std::int64_t from_stride, std::int64_t to_stride, bool narrowing);
  Tensor forward(Tensor x) const;
  std::int64_t outputs() const { return outputs_; }

 private:
  std::int64_t outputs_;
  std::int64_t poolings_ = 0;
  std::vector<std::shared_ptr<UpConv>> ups_;
  std::vector<std::shared_ptr<MapNorm>> norms_;  // between the doublings
};

// Bilinear, pixel centres aligned, to the size of another map or to a given one.
Tensor resize_map(const Tensor& x, torch::IntArrayRef size);

}  // namespace addp
