#include "nn/layer/block.h"

#include <cmath>

#include "nn/torch.h"

namespace addp {

Mlp::Mlp(std::int64_t width, std::int64_t hidden, double dropout)
    : dropout_(dropout),
      fc1_(register_module("fc1", std::make_shared<Linear>(width, hidden))),
      fc2_(register_module("fc2", std::make_shared<Linear>(hidden, width))) {}

Tensor Mlp::forward(const Tensor& x, DropoutKeys* keys) const {
  const Tensor hidden = dropout(at::gelu(fc1_->forward(x)), dropout_, keys);
  return dropout(fc2_->forward(hidden), dropout_, keys);
}

Block::Block(const BlockConfig& config) : drop_path_(config.drop_path) {
  const auto hidden = std::llround(static_cast<double>(config.width) * config.mlp_ratio);
  norm1_ = register_module("norm1", std::make_shared<LayerNorm>(config.width));
  attn_ = register_module("attn",
                          std::make_shared<Attention>(config.width, config.heads, config.dropout,
                                                      config.attention_dropout));
  norm2_ = register_module("norm2", std::make_shared<LayerNorm>(config.width));
  mlp_ = register_module("mlp", std::make_shared<Mlp>(config.width, hidden, config.dropout));
}

Tensor Block::forward(const Tensor& x, DropoutKeys* keys, const GridAttention* where) const {
  const Tensor h = x + drop_path(attn_->forward(norm1_->forward(x), keys, where), drop_path_, keys);
  return h + drop_path(mlp_->forward(norm2_->forward(h), keys), drop_path_, keys);
}

std::vector<std::shared_ptr<Block>> make_blocks(torch::nn::Module& parent, const std::string& name,
                                                std::int64_t depth, BlockConfig config) {
  // A plain module as the container, so that the parameters are called name.0.attn.qkv.weight, ...
  const auto list = parent.register_module(name, std::make_shared<torch::nn::Module>(name));
  std::vector<std::shared_ptr<Block>> blocks;
  const double last_rate = config.drop_path;
  for (std::int64_t i = 0; i < depth; ++i) {
    config.drop_path =
        depth > 1 ? last_rate * static_cast<double>(i) / static_cast<double>(depth - 1) : last_rate;
    blocks.push_back(list->register_module(std::to_string(i), std::make_shared<Block>(config)));
  }
  return blocks;
}

Tensor run_blocks(const std::vector<std::shared_ptr<Block>>& blocks, Tensor x, DropoutKeys* keys) {
  for (const auto& block : blocks) x = block->forward(x, keys);
  return x;
}

}  // namespace addp
