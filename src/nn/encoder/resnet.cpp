#include "nn/encoder/resnet.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "nn/layer/rows.h"
#include "nn/torch.h"

namespace addp {
namespace {

std::shared_ptr<Conv2d> make_conv(std::int64_t in, std::int64_t out, std::int64_t kernel,
                                  std::int64_t stride = 1) {
  return std::make_shared<Conv2d>(
      in, out, kernel, ConvOptions{.stride = stride, .padding = kernel / 2, .with_bias = false});
}

const ResNetConfig& checked(const ResNetConfig& config) {
  for (const std::int64_t depth : config.depths) {
    if (depth < 1) throw UsageError("a ResNet stage of {} blocks: give at least 1", depth);
  }
  if (config.width < 1) throw UsageError("a ResNet of width {}: give at least 1", config.width);
  return config;
}

std::size_t stage_of_stride(const ResNetEncoderConfig& config) {
  const auto strides = config.trunk.strides();
  const auto found = std::ranges::find(strides, config.stride);
  if (found == strides.end()) {
    throw UsageError("this ResNet encoder has no grid of {}-pixel tokens: choose one of {}",
                     config.stride, fmt::join(strides, ", "));
  }
  return static_cast<std::size_t>(found - strides.begin());
}

}  // namespace

Bottleneck::Bottleneck(std::int64_t inputs, std::int64_t width, std::int64_t stride,
                       double drop_path)
    : drop_path_(drop_path),
      conv1_(register_module("conv1", make_conv(inputs, width, 1))),
      conv2_(register_module("conv2", make_conv(width, width, 3, stride))),
      conv3_(register_module("conv3", make_conv(width, 4 * width, 1))),
      bn1_(register_module("bn1", torch::nn::BatchNorm2d(width))),
      bn2_(register_module("bn2", torch::nn::BatchNorm2d(width))),
      bn3_(register_module("bn3", torch::nn::BatchNorm2d(4 * width))) {
  if (stride == 1 && inputs == 4 * width) return;
  const auto downsample = register_module("downsample", std::make_shared<torch::nn::Module>());
  shortcut_ = downsample->register_module("0", make_conv(inputs, 4 * width, 1, stride));
  shortcut_norm_ = downsample->register_module("1", torch::nn::BatchNorm2d(4 * width));
}

Tensor Bottleneck::forward(const Tensor& x, DropoutKeys* keys) {
  auto h = bn1_(conv1_->forward(x)).relu_();
  h = bn2_(conv2_->forward(h)).relu_();
  h = drop_path(bn3_(conv3_->forward(h)), drop_path_, keys);
  return (h + (shortcut_ ? shortcut_norm_(shortcut_->forward(x)) : x)).relu_();
}

ResNet::ResNet(const ResNetConfig& config)
    : config_(checked(config)),
      conv1_(register_module("conv1", make_conv(3, config.width, 7, 2))),
      bn1_(register_module("bn1", torch::nn::BatchNorm2d(config.width))) {
  std::int64_t inputs = config.width, before = 0;
  const std::int64_t total = std::accumulate(config.depths.begin(), config.depths.end(), 0L);
  for (std::size_t stage = 0; stage < 4; ++stage) {
    const auto layer =
        register_module(fmt::format("layer{}", stage + 1), std::make_shared<torch::nn::Module>());
    const std::int64_t width = config.width << stage;
    for (std::int64_t block = 0; block < config.depths[stage]; ++block, ++before) {
      const std::int64_t stride = block == 0 && stage > 0 ? 2 : 1;
      const double share = double(before) / double(std::max<std::int64_t>(1, total - 1));
      layers_[stage].push_back(layer->register_module(
          fmt::format("{}", block),
          std::make_shared<Bottleneck>(inputs, width, stride, config.drop_path * share)));
      inputs = 4 * width;
    }
  }
  if (config.classes > 0) {
    fc_ = register_module("fc", std::make_shared<Linear>(inputs, config.classes));
  }
}

std::array<Tensor, 4> ResNet::stages(const Tensor& pixels, DropoutKeys* keys) {
  auto x = bn1_(conv1_->forward(pixels.contiguous(torch::MemoryFormat::ChannelsLast))).relu_();
  if (config_.pool) x = torch::max_pool2d(x, 3, 2, 1);
  std::array<Tensor, 4> maps;
  for (std::size_t stage = 0; stage < 4; ++stage) {
    for (const auto& block : layers_[stage]) x = block->forward(x, keys);
    maps[stage] = x;
  }
  return maps;
}

Tensor ResNet::forward(const Tensor& pixels) {
  const auto features = stages(pixels)[3].mean({2, 3});
  return fc_ ? fc_->forward(features) : features;
}

ResNetEncoder::ResNetEncoder(const ResNetEncoderConfig& config)
    : config_(config), level_(stage_of_stride(config)) {
  config_.trunk.classes = 0;
  trunk_ = register_module("trunk", std::make_shared<ResNet>(config_.trunk));
  for (std::size_t stage = level_; stage < 4; ++stage) {
    const ConvOptions options{.with_bias = stage == 3};
    projections_.push_back(register_module(
        fmt::format("projection{}", stage + 1),
        std::make_shared<Conv2d>(config_.trunk.channels()[stage], config.width, 1, options)));
  }
  norm_ = register_module("norm", std::make_shared<LayerNorm>(config.width));
}

Tensor ResNetEncoder::encode(const Tensor& pixels, DropoutKeys* keys, const Tensor& extra,
                             const Tensor& rows) {
  if (extra.defined()) {
    throw UsageError(
        "a ResNet encoder has no attention to take tokens in by: feed tokens to the decoder only, "
        "or use a ViT encoder");
  }
  const auto maps = trunk_->stages(pixels, keys);
  auto tokens = projections_.back()->forward(maps[3]);  // [B, D, H/s, W/s], s the last stride
  // The projection is linear, so pooling after it is the projection of what was pooled.
  const auto whole = tokens.mean({2, 3}).unsqueeze(1);  // [B, 1, D]
  for (std::size_t stage = 3; stage-- > level_;) {
    tokens = projections_[stage - level_]->forward(maps[stage]) +
             torch::upsample_nearest2d(tokens, maps[stage].sizes().slice(2));
  }
  tokens = tokens.flatten(2).transpose(1, 2);  // [B, L, D]
  return norm_->forward(pick_rows(torch::cat({whole, tokens}, 1), rows));
}

}  // namespace addp
