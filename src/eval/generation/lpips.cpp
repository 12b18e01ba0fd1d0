#include "eval/generation/lpips.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "checkpoint/layout/checkpoint.h"
#include "machine/machine.h"
#include "model/load.h"
#include "nn/kernel/frozen_weights.h"
#include "nn/torch.h"

namespace addp {
namespace {

struct AlexLayer {
  const char* key;
  std::int64_t in, out, kernel, stride, padding;
  bool pooled;  // a 3x3 maximum of stride two stands before it
};

// The convolutions of torchvision's AlexNet; the features compared are their rectified outputs.
constexpr std::array<AlexLayer, 5> kAlexNet = {{
    {"features.0", 3, 64, 11, 4, 2, false},
    {"features.3", 64, 192, 5, 1, 2, true},
    {"features.6", 192, 384, 3, 1, 1, true},
    {"features.8", 384, 256, 3, 1, 1, false},
    {"features.10", 256, 256, 3, 1, 1, false},
}};

Tensor take(const TensorMap& weights, const std::string& key, torch::IntArrayRef shape,
            const std::string& file) {
  const auto found = weights.find(key);
  if (found == weights.end() || torch::IntArrayRef(found->second.shape) != shape) {
    throw DataError(
        "{}: '{}' of shape {} is missing, so it is not LPIPS with AlexNet; fetch it again", file,
        key, fmt::join(shape, "x"));
  }
  return to_torch(found->second).to(torch::kFloat);
}

// Each pixel's vector over the channels, brought to length one. The tiny summand keeps the root's
// derivative finite where a vector is all zero.
Tensor unit_length(const Tensor& x) {
  return x / (torch::sqrt((x * x).sum(1, true) + 1e-20) + 1e-10);
}

void check_pictures(const Tensor& a, const Tensor& b) {
  if (a.sizes() != b.sizes() || a.dim() != 4 || a.size(1) != 3 || a.size(2) < kLpipsMinSide ||
      a.size(3) < kLpipsMinSide) {
    throw UsageError("LPIPS compares two batches [B, 3, H, W] of sides at least {}, not {} and {}",
                     kLpipsMinSide, fmt::join(a.sizes(), "x"), fmt::join(b.sizes(), "x"));
  }
}

}  // namespace

Lpips Lpips::open(const std::filesystem::path& path) {
  Lpips lpips(open_checkpoint(path).tensors, path.string());
  lpips.to(compute_device());
  return lpips;
}

Lpips::Lpips(const TensorMap& weights, const std::string& name)
    // The mean and deviation of ImageNet, for inputs in [-1, 1].
    : shift_(torch::tensor({-.030F, -.088F, -.188F}).view({1, 3, 1, 1})),
      scale_(torch::tensor({.458F, .448F, .450F}).view({1, 3, 1, 1})) {
  for (std::size_t i = 0; i < kAlexNet.size(); ++i) {
    const AlexLayer& layer = kAlexNet[i];
    const std::string key = layer.key;
    layers_[i] = {
        take(weights, key + ".weight", {layer.out, layer.in, layer.kernel, layer.kernel}, name),
        take(weights, key + ".bias", {layer.out}, name),
        take(weights, fmt::format("lin{}.weight", i), {1, layer.out, 1, 1}, name)};
  }
  if (weights.size() != 3 * kAlexNet.size()) {
    throw DataError("{}: holds {} tensors, LPIPS with AlexNet has {}; this is another network",
                    name, weights.size(), 3 * kAlexNet.size());
  }
}

void Lpips::to(torch::Device device) {
  for (Layer& layer : layers_) {
    layer.weight = layer.weight.to(device);
    layer.bias = layer.bias.to(device);
    layer.channel_weight = layer.channel_weight.to(device);
  }
  shift_ = shift_.to(device);
  scale_ = scale_.to(device);
}

Lpips::Features Lpips::features(const Tensor& x) const {
  Features maps;
  auto h = (x - shift_) / scale_;
  for (std::size_t i = 0; i < kAlexNet.size(); ++i) {
    const AlexLayer& layer = kAlexNet[i];
    if (layer.pooled) h = torch::max_pool2d(h, 3, 2);
    h = torch::relu(
        convolution(h, layers_[i].weight, layers_[i].bias, layer.stride, layer.padding));
    maps[i] = h;
  }
  return maps;
}

Tensor Lpips::operator()(const Tensor& a, const Tensor& b) const {
  check_pictures(a, b);
  return distance(features(a), features(b));
}

Tensor Lpips::distance(const Features& a, const Features& b) const {
  auto sum = torch::zeros({a[0].size(0)}, a[0].options().dtype(torch::kFloat));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto difference = unit_length(a[i]) - unit_length(b[i]);
    const auto weighted = difference * difference * layers_[i].channel_weight;
    sum = sum + weighted.sum(1).mean({1, 2});  // [B]
  }
  return sum;
}

}  // namespace addp
