#include "diffusion/bypass.h"

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "model/init.h"
#include "nn/torch.h"
#include "tokenizer/vqgan.h"

namespace addp {
namespace {

constexpr std::int64_t kGroups = 8;
constexpr std::int64_t kChannelStep = 32;  // what vectors of any machine divide

void check(const BypassConfig& c) {
  if (c.code_width < 1 || c.width < 1 || c.blocks < 0 || c.patch_width < 1) {
    throw UsageError(
        "a bypass of {} blocks of {} channels between {} and {} numbers cannot be made: give "
        "positive numbers",
        c.blocks, c.width, c.code_width, c.patch_width);
  }
}

}  // namespace

std::int64_t usual_bypass_width(std::int64_t encoder_width) {
  return (encoder_width + 3 * kChannelStep - 1) / (3 * kChannelStep) * kChannelStep;
}

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
      register_module("conv_out", std::make_shared<Conv2d>(config.width, config.patch_width, 1));
  mean_ = register_buffer("mean", torch::zeros({config.patch_width}));
  deviation_ = register_buffer("deviation", torch::ones({1}));
}

Tensor Bypass::forward(const Tensor& embeddings, const Grid& grid) const {
  Tensor x = conv_in_->forward(
      to_grid(embeddings, grid).contiguous(torch::MemoryFormat::ChannelsLast));  // [B, W, h, w]
  for (const auto& block : blocks_) x = block->forward(x);
  const Tensor patches = conv_out_->forward(norm_out_->swish(x)).flatten(2).transpose(1, 2);
  return at::addcmul(mean_, patches.to(torch::kFloat32), deviation_);  // [B, L, P]
}

void Bypass::start_on(const Tensor& patches) {
  torch::NoGradGuard guard;
  const Tensor rows = patches.reshape({-1, patches.size(2)}).to(torch::kFloat64);
  const Tensor mean = rows.mean(0);
  mean_.copy_(mean);
  deviation_.copy_((rows - mean).square().mean().sqrt().clamp_min(1e-6).reshape({1}));
}

Tensor Bypass::unexplained(const Tensor& predicted, const Tensor& patches) const {
  return ((predicted - patches) / deviation_).square().mean();
}

void initialise_bypass(Bypass& bypass, const RandomStream& stream) {
  initialise(bypass, stream);
  for (const auto& item : bypass.named_parameters()) {
    const bool last = item.key() == "conv_out.weight";
    // Residual branches start small, as the tokenizer's do.
    if (item.value().dim() == 4) item.value().data().mul_(last ? 0.0 : std::sqrt(1.0 / 6.0));
  }
}

}  // namespace addp
