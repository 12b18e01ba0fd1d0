// The network that FID is defined with: Inception v3 as published for TensorFlow on 2015-12-05, in
// the layout and with the parameter names of the usual PyTorch tools. It differs from torchvision's
// Inception v3 in its resize, in pooling (borders not counted, a maximum in the last block) and in
// its 1008 classes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/format/tensor.h"
#include "image/image.h"
#include "nn/types.h"

namespace addp {

inline constexpr std::int64_t kInceptionSide = 299;

struct InceptionOutput {
  Tensor pool;  // [B, 2048], what FID, KID, precision and recall compare
  // [B, 1008] without fc's bias, what the Inception Score takes; undefined without fc.
  Tensor logits_unbiased;
};

// Means over the maps inside the network, for tests against other implementations.
struct InceptionTaps {
  Tensor features64, features192, features768;
};

// A loaded network is constant: several threads may call it at once.
class InceptionNetwork {
 public:
  // Any checkpoint file with the usual keys; `fc.*` may be missing. A DataError names
  // what is wrong.
  // With `bf16` it computes in bfloat16: about twice as fast where the machine has instructions for
  // it, but features are 2 to 3% off, and a FID of 56.4 became 55.6. Its hash then differs, so that
  // features of both are not mixed.
  static InceptionNetwork open(const std::filesystem::path& path, bool bf16 = false);
  // The same from memory; `name` is what errors name.
  InceptionNetwork(const TensorMap& weights, std::string name, bool bf16 = false);

  bool has_classifier() const { return fc_weight_.defined(); }
  // The file it came from and the SHA-256 of its bytes (with "+bf16" where it computes so), for
  // the protocol printed beside every figure.
  const std::string& name() const { return name_; }
  const std::string& hash() const { return hash_; }

  // uint8 pictures [B, 3, H, W] of any size; memory is bounded however large B is, unless taps
  // are asked for.
  InceptionOutput operator()(const Tensor& pictures, InceptionTaps* taps = nullptr) const;
  // The same for pictures of different sizes.
  InceptionOutput operator()(std::span<const Image> pictures) const;

 private:
  struct Convolution {
    Tensor weight, bias;  // batch normalisation folded in
    std::int64_t stride;
    std::vector<std::int64_t> padding;
  };

  Tensor conv(const std::string& name, const Tensor& x) const;
  Tensor chain(const std::string& prefix, std::initializer_list<const char*> names, Tensor x) const;
  Tensor block_a(const std::string& name, const Tensor& x) const;
  Tensor block_b(const std::string& name, const Tensor& x) const;
  Tensor block_c(const std::string& name, const Tensor& x) const;
  Tensor block_d(const std::string& name, const Tensor& x) const;
  Tensor block_e(const std::string& name, const Tensor& x, bool max_pooling) const;
  Tensor pool_features(Tensor x, InceptionTaps* taps) const;
  InceptionOutput output_of(const std::vector<Tensor>& parts) const;

  torch::ScalarType type_;
  std::map<std::string, Convolution> convolutions_;
  Tensor fc_weight_;
  std::string name_, hash_;
};

// TensorFlow 1's bilinear resize of uint8 [B, 3, H, W] to size x size: source = target *
// in / out, without the half-pixel offset and without antialiasing; then (x - 128) /
// 128. Float, channels-last.
Tensor inception_input(const Tensor& pictures, std::int64_t size = kInceptionSide);
Tensor inception_input(std::span<const Image> pictures, std::int64_t size = kInceptionSide);

}  // namespace addp
