#include "nn/encoder/activation_bytes.h"

namespace addp {
namespace {

double resnet_activation_bytes(const ResNetConfig& config, double pixels) {
  // Each convolution's output three times: itself, its norm, its activation.
  constexpr double kCopies = 3;
  const auto strides = config.strides();
  double channels = static_cast<double>(config.width) / 4;  // the stem's, at half the resolution
  for (std::size_t stage = 0; stage < strides.size(); ++stage) {
    const auto width = static_cast<double>(config.width << stage);
    const auto area = static_cast<double>(strides[stage] * strides[stage]);
    channels += static_cast<double>(config.depths[stage]) * 6 * width / area;
  }
  return 4 * kCopies * channels * pixels;
}

}  // namespace

double block_activation_bytes(std::int64_t width, std::int64_t depth, double tokens) {
  // Two norms, qkv, attention, projection, the MLP's two layers of four widths, dropout masks.
  constexpr double kFloatsPerWidth = 20;
  return 4 * kFloatsPerWidth * static_cast<double>(width * depth) * tokens;
}

double encoder_activation_bytes(const EncoderConfig& config, double pixels) {
  if (config.kind == EncoderKind::kResNet) {
    return resnet_activation_bytes(config.resnet.trunk, pixels);
  }
  const auto patch = static_cast<double>(config.vit.patch * config.vit.patch);
  return block_activation_bytes(config.vit.width, config.vit.depth, pixels / patch);
}

}  // namespace addp
