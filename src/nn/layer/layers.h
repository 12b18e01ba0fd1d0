// The basic layers. Unlike torch::nn's they leave their weights uninitialised: either initialise()
// (model/init.h) draws them from a random stream, or a checkpoint is loaded strictly
// (model/load.h). That makes a large network cost nothing to build and keeps torch's global
// generator out of every result.
#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <memory>

#include "nn/kernel/residual.h"
#include "nn/types.h"

namespace addp {

class Linear : public torch::nn::Module {
 public:
  Linear(std::int64_t inputs, std::int64_t outputs, bool with_bias = true);
  Tensor forward(const Tensor& x) const;
  Tensor gelu(const Tensor& x) const;  // of the product

  Tensor weight, bias;
};

class LayerNorm : public torch::nn::Module {
 public:
  explicit LayerNorm(std::int64_t width, double eps = 1e-6);
  Tensor forward(const Tensor& x) const;
  // For what only a product reads: in bfloat16 where products are.
  Tensor for_product(const Tensor& x) const { return norm_for_product(x, weights()); }
  NormWeights weights() const { return {weight, bias, eps_}; }

  Tensor weight, bias;

 private:
  double eps_;
};

class GroupNorm : public torch::nn::Module {
 public:
  GroupNorm(std::int64_t groups, std::int64_t channels, double eps = 1e-6);
  Tensor forward(const Tensor& x) const;
  Tensor swish(const Tensor& x) const;  // of the norm, fused; channels last

  Tensor weight, bias;

 private:
  std::int64_t groups_;
  double eps_;
};

struct ConvOptions {
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  bool with_bias = true;
};

class Conv2d : public torch::nn::Module {
 public:
  Conv2d(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel, ConvOptions options = {});
  Tensor forward(const Tensor& x) const;

  Tensor weight, bias;

 private:
  ConvOptions options_;
};

class Embedding : public torch::nn::Module {
 public:
  Embedding(std::int64_t rows, std::int64_t width);
  Tensor forward(const Tensor& ids) const;

  Tensor weight;
};

// Halves the memory of a network that computes in a Bf16Scope alone from now on: weights of Linear
// and Conv2d are kept in bfloat16, to which every product would round them.
void keep_weights_in_bf16(torch::nn::Module& network);

// Parameters of a module and those under it.
std::int64_t parameter_count(const torch::nn::Module& module);

}  // namespace addp
