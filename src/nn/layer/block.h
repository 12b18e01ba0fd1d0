// The pre-norm transformer block: x + attention(norm1(x)), then x + mlp(norm2(x)).
#pragma once

#include <span>
#include <vector>

#include "nn/kernel/residual.h"
#include "nn/layer/attention.h"

namespace addp {

struct BlockConfig {
  std::int64_t width = 768;
  std::int64_t heads = 12;
  double mlp_ratio = 4;          // hidden width of the MLP over the width
  double dropout = 0;            // after the attention's projection and both layers of the MLP
  double attention_dropout = 0;  // on the attention weights
  double drop_path = 0;          // on each residual branch, per sample
};

class Mlp : public torch::nn::Module {
 public:
  Mlp(std::int64_t width, std::int64_t hidden, double hidden_dropout);
  Tensor forward(const Tensor& x, DropoutKeys* keys = nullptr) const;

 private:
  double hidden_dropout_;
  std::shared_ptr<Linear> fc1_, fc2_;
};

class Block : public torch::nn::Module {
 public:
  explicit Block(const BlockConfig& config);
  // [B, N, D] -> [B, N, D], or [B, M, D] at the positions `rows` [B, M] alone.
  Tensor forward(const Tensor& x, DropoutKeys* keys = nullptr, const GridAttention* where = nullptr,
                 const Tensor& rows = {}) const;

 private:
  double dropout_, drop_path_;
  std::shared_ptr<LayerNorm> norm1_, norm2_;
  std::shared_ptr<Attention> attn_;
  std::shared_ptr<Mlp> mlp_;
};

// `depth` blocks registered in `parent` as name.0, name.1, ...; drop_path rises linearly from 0 to
// the configured rate (Huang et al. 2016).
std::vector<std::shared_ptr<Block>> make_blocks(torch::nn::Module& parent, const std::string& name,
                                                std::int64_t depth, BlockConfig config);
// With `rows` the last block gives only those positions.
Tensor run_blocks(std::span<const std::shared_ptr<Block>> blocks, Tensor x,
                  DropoutKeys* keys = nullptr, const Tensor& rows = {});

}  // namespace addp
