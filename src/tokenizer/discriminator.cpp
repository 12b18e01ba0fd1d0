#include "tokenizer/discriminator.h"

#include <algorithm>

#include "nn/torch.h"

namespace addp {
namespace {

Tensor grain_of(const Tensor& pixels) {
  constexpr double kStrength = 8;
  const Tensor around = at::avg_pool2d(pixels, 5, 1, 2, /*ceil_mode=*/false,
                                       /*count_include_pad=*/false);
  return kStrength * (pixels - around);
}

}  // namespace

Discriminator::Discriminator(const DiscriminatorConfig& config) : grain_(config.grain) {
  constexpr std::int64_t kKernel = 4, kGroup = 8;
  std::int64_t width = config.grain ? 6 : 3;
  for (std::int64_t layer = 0; layer <= config.layers; ++layer) {
    const std::int64_t next = config.channels * std::min<std::int64_t>(std::int64_t{1} << layer, 8);
    const std::int64_t stride = layer < config.layers ? 2 : 1;
    convs_.push_back(
        std::make_shared<Conv2d>(width, next, kKernel, ConvOptions{stride, 1, layer == 0}));
    // The first layer sees raw pixels and is not normalised.
    norms_.push_back(
        layer == 0 || !config.normalised
            ? nullptr
            : std::make_shared<GroupNorm>(std::max<std::int64_t>(1, next / kGroup), next));
    width = next;
  }
  convs_.push_back(std::make_shared<Conv2d>(width, 1, kKernel, ConvOptions{1, 1, true}));
  norms_.push_back(nullptr);
  for (std::size_t i = 0; i < convs_.size(); ++i) {
    register_module("conv" + std::to_string(i), convs_[i]);
    if (norms_[i]) register_module("norm" + std::to_string(i), norms_[i]);
  }
}

Tensor Discriminator::forward(const Tensor& pixels) const {
  constexpr double kSlope = 0.2;
  Tensor x = pixels * 2 - 1;
  if (grain_) x = torch::cat({x, grain_of(pixels)}, 1);
  for (std::size_t i = 0; i < convs_.size(); ++i) {
    x = convs_[i]->forward(x);
    if (norms_[i]) x = norms_[i]->forward(x);
    if (i + 1 < convs_.size()) x = torch::leaky_relu(x, kSlope);
  }
  return x;
}

Tensor discriminator_loss(std::span<const Tensor> real_logits,
                          std::span<const Tensor> fake_logits) {
  Tensor loss;
  for (std::size_t i = 0; i < real_logits.size(); ++i) {
    const Tensor real = real_logits[i].to(torch::kFloat32),
                 fake = fake_logits[i].to(torch::kFloat32);
    const Tensor one = 0.5 * (torch::relu(1 - real).mean() + torch::relu(1 + fake).mean());
    loss = loss.defined() ? loss + one : one;
  }
  return loss / static_cast<double>(real_logits.size());
}

Tensor generator_loss(std::span<const Tensor> fake_logits) {
  Tensor loss;
  for (const Tensor& logits : fake_logits) {
    const Tensor one = -logits.to(torch::kFloat32).mean();
    loss = loss.defined() ? loss + one : one;
  }
  return loss / static_cast<double>(fake_logits.size());
}

Tensor paired_loss(std::span<const Tensor> more, std::span<const Tensor> less) {
  Tensor loss;
  for (std::size_t i = 0; i < more.size(); ++i) {
    const Tensor lead = more[i].to(torch::kFloat32) - less[i].to(torch::kFloat32);
    const Tensor one = at::softplus(-lead).mean();
    loss = loss.defined() ? loss + one : one;
  }
  return loss / static_cast<double>(more.size());
}

Tensor gradient_penalty(const Discriminator& discriminator, const Tensor& pixels) {
  const Tensor x = pixels.detach().clone().set_requires_grad(true);
  const Tensor logits = discriminator.forward(x).to(torch::kFloat32).mean({1, 2, 3}).sum();
  const Tensor gradient = torch::autograd::grad({logits}, {x}, {}, /*retain_graph=*/true,
                                                /*create_graph=*/true)[0];
  return gradient.square().sum({1, 2, 3}).mean();
}

}  // namespace addp
