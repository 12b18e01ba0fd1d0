// Multi-head self-attention (Vaswani et al. 2017), queries, keys and values from one projection.
#pragma once

#include "nn/dropout.h"
#include "nn/layers.h"

namespace addp {

class Attention : public torch::nn::Module {
 public:
  // `dropout` applies to the output, `attention_dropout` to the attention weights.
  Attention(std::int64_t width, std::int64_t heads, double dropout, double attention_dropout);

  Tensor forward(const Tensor& x, Noise* noise = nullptr) const;  // [B, N, D] -> [B, N, D]

 private:
  Tensor mix(const Tensor& q, const Tensor& k, const Tensor& v, Noise* noise) const;

  std::int64_t heads_;
  double dropout_, attention_dropout_;
  std::shared_ptr<Linear> qkv_, proj_;
};

}  // namespace addp
