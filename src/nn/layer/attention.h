// Multi-head self-attention (Vaswani et al. 2017), queries, keys and values from one projection.
#pragma once

#include "nn/kernel/dropout.h"
#include "nn/kernel/residual.h"
#include "nn/layer/grid_attention.h"
#include "nn/layer/layers.h"

namespace addp {

class Attention : public torch::nn::Module {
 public:
  // `dropout` applies to the attention weights.
  Attention(std::int64_t width, std::int64_t heads, double dropout);

  // [B, N, D] -> [B, N, D]. With `where` the positions are a grid, and attention may be windowed
  // and know relative positions. `rows` [B, M]: the positions whose results are wanted, [B, M, D].
  Tensor forward(const Tensor& x, DropoutKeys* keys = nullptr, const GridAttention* where = nullptr,
                 const Tensor& rows = {}) const;

 private:
  Tensor mix(const Tensor& q, const Tensor& k, const Tensor& v, DropoutKeys* keys,
             const GridAttention* where) const;

  std::int64_t heads_;
  double dropout_;
  std::shared_ptr<Linear> qkv_, proj_;
};

}  // namespace addp
