#include "diffusion/bypass.h"

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "model/init.h"
#include "nn/layer/position.h"
#include "nn/torch.h"
#include "tokenizer/vqgan.h"

namespace addp {
namespace {

constexpr std::int64_t kGroups = 8;
constexpr std::int64_t kChannelStep = 32;  // what vectors of any machine divide

void check(const BypassConfig& c) {
  if (c.code_width < 1 || c.width < 1 || c.blocks < 0 || c.skip < 0 || c.encoder_width < 1 ||
      c.grid.height < 1 || c.grid.width < 1) {
    throw UsageError(
        "a bypass of {} blocks of {} channels between {} and {} numbers cannot be made; make another "
        "by 'addp distil'",
        c.blocks, c.width, c.code_width, c.encoder_width);
  }
}

}  // namespace

std::int64_t usual_bypass_width(std::int64_t encoder_width) {
  return (encoder_width + 3 * kChannelStep - 1) / (3 * kChannelStep) * kChannelStep;
}

std::int64_t usual_bypass_skip(std::int64_t encoder_depth) { return encoder_depth / 3; }

Bypass::Bypass(const BypassConfig& config) : config_(config) {
  check(config);
  const std::int64_t groups = std::gcd(kGroups, config.width);
  conv_in_ = register_module("conv_in", std::make_shared<Conv2d>(config.code_width, config.width, 3,
                                                                 ConvOptions{.padding = 1}));
  const auto list = register_module("blocks", std::make_shared<torch::nn::Module>("blocks"));
  for (std::int64_t i = 0; i < config.blocks; ++i) {
    blocks_.push_back(list->register_module(
        std::to_string(i),
        std::make_shared<VqganBlock>(config.width, config.width, /*input_shortcut=*/true, groups)));
  }
  norm_out_ = register_module("norm_out", std::make_shared<GroupNorm>(groups, config.width));
  conv_out_ =
      register_module("conv_out", std::make_shared<Conv2d>(config.width, config.encoder_width, 1));
  class_out_ =
      register_module("class_out", std::make_shared<Linear>(config.width, config.encoder_width));
  mean_ = register_buffer("mean", torch::zeros({1, 1 + config.grid.area(), config.encoder_width}));
  deviation_ = register_buffer("deviation", torch::ones({1}));
}

Tensor Bypass::forward(const Tensor& embeddings, const Grid& grid) const {
  Tensor x = conv_in_->forward(
      to_grid(embeddings, grid).contiguous(torch::MemoryFormat::ChannelsLast));  // [B, W, h, w]
  for (const auto& block : blocks_) x = block->forward(x);
  x = norm_out_->swish(x);
  const Tensor cells = conv_out_->forward(x).flatten(2).transpose(1, 2),
               whole = class_out_->forward(x.mean({2, 3})).unsqueeze(1);
  return at::addcmul(resize_positions(mean_, config_.grid, grid),
                     at::cat({whole, cells}, 1).to(torch::kFloat32), deviation_);
}

void Bypass::start_on(const Tensor& states) {
  torch::NoGradGuard guard;
  const Tensor wide = states.to(torch::kFloat64), mean = wide.mean(0, /*keepdim=*/true);
  mean_.copy_(mean);
  deviation_.copy_((wide - mean).square().mean().sqrt().clamp_min(1e-6).reshape({1}));
}

Tensor Bypass::unexplained(const Tensor& predicted, const Tensor& states) const {
  return ((predicted - states) / deviation_).square().mean();
}

void initialise_bypass(Bypass& bypass, const RandomStream& stream) {
  initialise(bypass, stream);
  for (const auto& item : bypass.named_parameters()) {
    const bool last = item.key() == "conv_out.weight" || item.key() == "class_out.weight";
    // Residual branches start small, as the tokenizer's do.
    if (last) item.value().data().zero_();
    if (item.value().dim() == 4) item.value().data().mul_(std::sqrt(1.0 / 6.0));
  }
}

}  // namespace addp
