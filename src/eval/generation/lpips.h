// LPIPS v0.1 with AlexNet (Zhang et al., "The unreasonable effectiveness of deep features as a
// perceptual metric", 2018): distances between unit-length feature vectors, weighted by
// learned channel weights.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "checkpoint/format/tensor.h"
#include "nn/types.h"

namespace addp {

// The smallest side that two 3x3 poolings after a stride of four leave anything of.
inline constexpr std::int64_t kLpipsMinSide = 31;
// Pixels between two positions of the first feature map.
inline constexpr std::int64_t kLpipsStride = 4;

// Constant once loaded. Differentiable in the pictures, so it serves as a metric and as
// a training loss.
class Lpips {
 public:
  // A checkpoint with features.{0,3,6,8,10}.{weight,bias} and lin{0..4}.weight.
  static Lpips open(const std::filesystem::path& path);
  Lpips(const TensorMap& weights, const std::string& name);

  // Pictures [B, 3, H, W] in [-1, 1]; one distance per pair [B]. No graph is kept for a side that
  // needs no gradient.
  Tensor operator()(const Tensor& a, const Tensor& b) const;

  // The two halves of that: the five feature maps of pictures, and the distance of two such sets.
  using Features = std::array<Tensor, 5>;
  Features features(const Tensor& x) const;
  Tensor distance(const Features& a, const Features& b) const;
  static constexpr std::array<std::int64_t, 5> kChannels = {64, 192, 384, 256, 256};

  void to(torch::Device device);

 private:
  struct Layer {
    Tensor weight, bias, channel_weight;
  };
  std::array<Layer, 5> layers_;
  Tensor shift_, scale_;
};

}  // namespace addp
