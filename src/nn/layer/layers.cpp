#include "nn/layer/layers.h"

#include "machine/freed_memory.h"
#include "nn/kernel/frozen_weights.h"
#include "nn/kernel/group_norm.h"
#include "nn/torch.h"

namespace addp {

Linear::Linear(std::int64_t inputs, std::int64_t outputs, bool with_bias)
    : weight(register_parameter("weight", torch::empty({outputs, inputs}))) {
  if (with_bias) bias = register_parameter("bias", torch::empty({outputs}));
}

Tensor Linear::forward(const Tensor& x) const { return linear_product(x, weight, bias); }

Tensor Linear::gelu(const Tensor& x) const { return linear_product_gelu(x, weight, bias); }

LayerNorm::LayerNorm(std::int64_t width, double eps)
    : weight(register_parameter("weight", torch::empty({width}))),
      bias(register_parameter("bias", torch::empty({width}))),
      eps_(eps) {}

Tensor LayerNorm::forward(const Tensor& x) const {
  return at::layer_norm(x, weight.sizes(), weight, bias, eps_);
}

GroupNorm::GroupNorm(std::int64_t groups, std::int64_t channels, double eps)
    : weight(register_parameter("weight", torch::empty({channels}))),
      bias(register_parameter("bias", torch::empty({channels}))),
      groups_(groups),
      eps_(eps) {}

Tensor GroupNorm::forward(const Tensor& x) const {
  return at::group_norm(x.contiguous(), groups_, weight, bias, eps_);
}

Tensor GroupNorm::swish(const Tensor& x) const {
  return group_norm_swish(x, groups_, weight, bias, eps_);
}

Conv2d::Conv2d(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel, ConvOptions options)
    : weight(register_parameter("weight", torch::empty({outputs, inputs, kernel, kernel}))),
      options_(options) {
  if (options.with_bias) bias = register_parameter("bias", torch::empty({outputs}));
}

Tensor Conv2d::forward(const Tensor& x) const {
  return convolution(x, weight, bias, options_.stride, options_.padding);
}

Embedding::Embedding(std::int64_t rows, std::int64_t width)
    : weight(register_parameter("weight", torch::empty({rows, width}))) {}

Tensor Embedding::forward(const Tensor& ids) const { return at::embedding(weight, ids); }

void keep_weights_in_bf16(torch::nn::Module& network) {
  for (const auto& module : network.modules()) {
    const auto keep = [](Tensor& weight) { weight.set_data(weight.data().to(torch::kBFloat16)); };
    if (auto* linear = module->as<Linear>()) keep(linear->weight);
    if (auto* convolution = module->as<Conv2d>()) keep(convolution->weight);
  }
  return_freed_memory();
}

std::int64_t parameter_count(const torch::nn::Module& module) {
  std::int64_t total = 0;
  for (const Tensor& parameter : module.parameters()) total += parameter.numel();
  return total;
}

}  // namespace addp
