#include "tokenizer/vqgan_layers.h"

#include <numeric>

#include "machine/precision.h"
#include "nn/kernel/frozen_weights.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr ConvOptions kBare3x3{.padding = 1, .with_bias = false};
constexpr ConvOptions kBiased3x3{.padding = 1};

// As many groups as asked for, or as the channels allow.
std::shared_ptr<GroupNorm> make_norm(std::int64_t channels, std::int64_t groups) {
  return std::make_shared<GroupNorm>(std::gcd(groups, channels), channels);
}

std::shared_ptr<torch::nn::Module> add_container(torch::nn::Module& parent,
                                                 const std::string& name) {
  return parent.register_module(name, std::make_shared<torch::nn::Module>(name));
}

// `level`.block.0, block.1, ...
VqganBlocks add_level(torch::nn::Module& level, std::int64_t inputs, std::int64_t outputs,
                      const VqganConfig& config) {
  const auto list = add_container(level, "block");
  VqganBlocks blocks;
  for (std::int64_t i = 0; i < config.blocks; ++i) {
    blocks.push_back(list->register_module(
        std::to_string(i), std::make_shared<VqganBlock>(i == 0 ? inputs : outputs, outputs,
                                                        config.input_shortcut, config.groups)));
  }
  return blocks;
}

VqganBlocks add_mid(torch::nn::Module& parent, std::int64_t channels, std::int64_t groups) {
  const auto mid = add_container(parent, "mid");
  VqganBlocks blocks;
  for (const char* name : {"block_1", "block_2"}) {
    blocks.push_back(mid->register_module(
        name, std::make_shared<VqganBlock>(channels, channels, false, groups)));
  }
  return blocks;
}

// Each cell becomes stem x stem pixels.
Tensor shuffled(const Tensor& x, std::int64_t stem) {
  return stem == 1 ? x : at::pixel_shuffle(x, stem);
}

Tensor run(const VqganBlocks& blocks, Tensor x) {
  for (const auto& block : blocks) x = block->forward(x);
  return x;
}

// A sum that nothing else holds takes the other's place, where no gradient needs it.
Tensor added_to(Tensor sum, const Tensor& other) {
  const bool there = !at::GradMode::is_enabled() && sum.scalar_type() == other.scalar_type();
  return there ? sum.add_(other) : other + sum;
}

}  // namespace

VqganBlock::VqganBlock(std::int64_t inputs, std::int64_t outputs, bool input_shortcut,
                       std::int64_t groups)
    : input_shortcut_(input_shortcut) {
  norm1_ = register_module("norm1", make_norm(inputs, groups));
  conv1_ = register_module("conv1", std::make_shared<Conv2d>(inputs, outputs, 3, kBare3x3));
  norm2_ = register_module("norm2", make_norm(outputs, groups));
  conv2_ = register_module("conv2", std::make_shared<Conv2d>(outputs, outputs, 3, kBare3x3));
  if (inputs != outputs) {
    nin_shortcut_ = register_module(
        "nin_shortcut", std::make_shared<Conv2d>(input_shortcut ? inputs : outputs, outputs, 1,
                                                 ConvOptions{.with_bias = false}));
  }
}

Tensor VqganBlock::forward(const Tensor& x) const {
  // One step per line: at full resolution each of these is large, and the one before is freed.
  Tensor h = norm1_->swish(x);
  h = conv1_->forward(h);
  h = norm2_->swish(h);
  h = conv2_->forward(h);
  if (!nin_shortcut_) return added_to(h, x);
  return added_to(nin_shortcut_->forward(input_shortcut_ ? x : h), h);
}

VqganEncoder::VqganEncoder(const VqganConfig& config) {
  const std::int64_t kernel = config.stem == 1 ? 3 : 2 * config.stem;
  conv_in_ = register_module(
      "conv_in", std::make_shared<Conv2d>(3, config.channels, kernel,
                                          ConvOptions{.stride = config.stem,
                                                      .padding = (kernel - config.stem + 1) / 2,
                                                      .with_bias = false}));
  const auto down = add_container(*this, "down");
  std::int64_t channels = config.channels;
  for (std::size_t i = 0; i < config.multipliers.size(); ++i) {
    const auto level = add_container(*down, std::to_string(i));
    down_.push_back(add_level(*level, channels, config.level_channels(i), config));
    channels = config.level_channels(i);
  }
  mid_ = add_mid(*this, channels, config.groups);
  norm_out_ = register_module("norm_out", make_norm(channels, config.groups));
  conv_out_ = register_module("conv_out", std::make_shared<Conv2d>(channels, config.code_width, 1));
}

Tensor VqganEncoder::forward(const Tensor& pixels) const {
  Tensor h = conv_in_->forward(pixels.contiguous(torch::MemoryFormat::ChannelsLast));
  for (std::size_t i = 0; i < down_.size(); ++i) {
    h = run(down_[i], i == 0 ? h : at::avg_pool2d(h, 2));
  }
  return conv_out_->forward(norm_out_->swish(run(mid_, h)));
}

VqganFinish::VqganFinish(std::int64_t inputs, const VqganConfig& config) : stem_(config.stem) {
  const std::int64_t channels = config.finish;
  conv_in_ = register_module(
      "conv_in", std::make_shared<Conv2d>(inputs, channels * stem_ * stem_, 3, kBiased3x3));
  block_ = register_module("block",
                           std::make_shared<VqganBlock>(channels, channels, true, config.groups));
  norm_out_ = register_module("norm_out", make_norm(channels, config.groups));
  conv_out_ = register_module("conv_out", std::make_shared<Conv2d>(channels, 3, 3, kBiased3x3));
}

Tensor VqganFinish::forward(const Tensor& features) const {
  const Tensor fine =
      shuffled(conv_in_->forward(features), stem_).contiguous(torch::MemoryFormat::ChannelsLast);
  return conv_out_->forward(norm_out_->swish(block_->forward(fine)));
}

VqganDecoder::VqganDecoder(const VqganConfig& config)
    : stem_(config.stem), half_chroma_(config.half_chroma) {
  const std::size_t levels = config.multipliers.size();
  std::int64_t channels = config.level_channels(levels - 1);
  conv_in_ = register_module("conv_in",
                             std::make_shared<Conv2d>(config.code_width, channels, 3, kBiased3x3));
  mid_ = add_mid(*this, channels, config.groups);
  const auto up = add_container(*this, "up");
  up_.resize(levels);
  upsample_.resize(levels);
  for (std::size_t i = levels; i-- > 0;) {
    const auto level = add_container(*up, std::to_string(i));
    up_[i] = add_level(*level, channels, config.level_channels(i), config);
    channels = config.level_channels(i);
    if (i > 0) {
      upsample_[i] = add_container(*level, "upsample")
                         ->register_module(
                             "conv", std::make_shared<Conv2d>(channels, channels, 3, kBiased3x3));
    }
  }
  norm_out_ = register_module("norm_out", make_norm(channels, config.groups));
  conv_out_ = register_module("conv_out",
                              std::make_shared<Conv2d>(channels, 3 * stem_ * stem_, 3, kBiased3x3));
  if (config.finish > 0) {
    finish_ = register_module("finish", std::make_shared<VqganFinish>(channels, config));
  }
}

Tensor VqganDecoder::forward(const Tensor& embeddings) const {
  Tensor h = conv_in_->forward(embeddings.contiguous(torch::MemoryFormat::ChannelsLast));
  h = run(mid_, std::move(h));
  for (std::size_t i = up_.size(); i-- > 0;) {
    h = run(up_[i], std::move(h));
    if (i > 0) h = upsample_conv(h, upsample_[i]->weight, upsample_[i]->bias);
  }
  h = norm_out_->swish(h);
  Tensor pixels = shuffled(conv_out_->forward(h), stem_);
  if (finish_) pixels = pixels + finish_->forward(h);
  return half_chroma_ ? with_half_chroma(pixels) : pixels;
}

Tensor with_half_chroma(const Tensor& pixels) {
  constexpr double kRed = 0.299, kGreen = 0.587, kBlue = 0.114;  // of brightness (BT.601)
  const Tensor luma =
      kRed * pixels.slice(1, 0, 1) + kGreen * pixels.slice(1, 1, 2) + kBlue * pixels.slice(1, 2, 3);
  const Tensor half = at::avg_pool2d(pixels - luma, 2);
  return luma + at::upsample_bilinear2d(half, {pixels.size(2), pixels.size(3)},
                                        /*align_corners=*/false);
}

Tensor upsample_conv(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (reference_arithmetic()) {
    const Tensor doubled = at::upsample_nearest2d(x, {2 * x.size(2), 2 * x.size(3)});
    return at::conv2d(doubled, weight, bias, 1, 1);
  }
  return doubling_convolution(x, weight, bias);
}

}  // namespace addp
