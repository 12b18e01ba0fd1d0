#include "nn/layer/block.h"

#include <cmath>

#include "nn/layer/rows.h"
#include "nn/torch.h"

namespace addp {

Mlp::Mlp(std::int64_t width, std::int64_t hidden, double hidden_dropout)
    : hidden_dropout_(hidden_dropout),
      fc1_(register_module("fc1", std::make_shared<Linear>(width, hidden))),
      fc2_(register_module("fc2", std::make_shared<Linear>(hidden, width))) {}

Tensor Mlp::forward(const Tensor& x, DropoutKeys* keys) const {
  const bool drops = keys != nullptr && hidden_dropout_ > 0;
  return fc2_->forward(drops ? gelu_dropout(fc1_->forward(x), hidden_dropout_, keys)
                             : fc1_->gelu(x));
}

Block::Block(const BlockConfig& config) : dropout_(config.dropout), drop_path_(config.drop_path) {
  const auto hidden = std::llround(static_cast<double>(config.width) * config.mlp_ratio);
  norm1_ = register_module("norm1", std::make_shared<LayerNorm>(config.width));
  attn_ = register_module(
      "attn", std::make_shared<Attention>(config.width, config.heads, config.attention_dropout));
  norm2_ = register_module("norm2", std::make_shared<LayerNorm>(config.width));
  mlp_ = register_module("mlp", std::make_shared<Mlp>(config.width, hidden, config.dropout));
}

Tensor Block::forward(const Tensor& x, DropoutKeys* keys, const GridAttention* where,
                      const Tensor& rows) const {
  const bool whole_samples = keys != nullptr && drop_path_ > 0;
  // What stochastic depth leaves of a branch; the rest of the work is fused with the sum.
  const auto left_of = [&](const Tensor& branch) {
    return whole_samples ? drop_path(dropout(branch, dropout_, keys), drop_path_, keys) : branch;
  };
  const double rate = whole_samples ? 0 : dropout_;
  const Tensor mixed = left_of(attn_->forward(norm1_->for_product(x), keys, where, rows));
  const ResidualNorm middle =
      add_and_norm(pick_rows(x, rows), mixed, rate, keys, norm2_->weights());
  return add_branch(middle.sum, left_of(mlp_->forward(middle.normed, keys)), rate, keys);
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

Tensor run_blocks(std::span<const std::shared_ptr<Block>> blocks, Tensor x, DropoutKeys* keys,
                  const Tensor& rows) {
  if (blocks.empty()) return pick_rows(x, rows);
  for (const auto& block : blocks.first(blocks.size() - 1)) x = block->forward(x, keys);
  return blocks.back()->forward(x, keys, nullptr, rows);
}

}  // namespace addp
