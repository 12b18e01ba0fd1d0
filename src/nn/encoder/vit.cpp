#include "nn/encoder/vit.h"

#include <span>

#include "base/error.h"
#include "nn/layer/position.h"
#include "nn/torch.h"

namespace addp {

PatchEmbed::PatchEmbed(std::int64_t patch, std::int64_t width)
    : proj_(register_module(
          "proj", std::make_shared<Conv2d>(3, width, patch, ConvOptions{.stride = patch}))) {}

Tensor PatchEmbed::forward(const Tensor& pixels) const {
  return proj_->forward(pixels).flatten(2).transpose(1, 2);
}

Vit::Vit(const VitConfig& config) : config_(config) {
  const std::int64_t width = config.width;
  cls_token_ = register_parameter("cls_token", torch::empty({1, 1, width}));
  pos_embed_ = register_parameter("pos_embed", torch::empty({1, 1 + config.grid.area(), width}));
  patch_embed_ = register_module("patch_embed", std::make_shared<PatchEmbed>(config.patch, width));
  if (config.embedding_norm) {
    tokenizer_norm_ = register_module("tokenizer_norm", std::make_shared<LayerNorm>(width));
  }
  blocks_ = make_blocks(*this, "blocks", config.depth,
                        {.width = width,
                         .heads = config.heads,
                         .mlp_ratio = config.mlp_ratio,
                         .dropout = config.dropout,
                         .attention_dropout = config.attention_dropout,
                         .drop_path = config.drop_path});
  if (config.final_norm) norm_ = register_module("norm", std::make_shared<LayerNorm>(width));
}

Grid Vit::grid_of(const Tensor& pixels) const {
  return {pixels.size(2) / config_.patch, pixels.size(3) / config_.patch};
}

Tensor Vit::embed(const Tensor& pixels, DropoutKeys* /*keys*/) const {
  const std::int64_t patch = config_.patch;
  if (pixels.size(2) % patch != 0 || pixels.size(3) % patch != 0) {
    throw UsageError("a picture of {}x{} pixels cannot be cut into patches of {}: resize it",
                     pixels.size(3), pixels.size(2), patch);
  }
  const Tensor positions = resize_positions(pos_embed_, config_.grid, grid_of(pixels));
  const Tensor cells = patch_embed_->forward(pixels) + positions.slice(1, 1);
  const Tensor first = (cls_token_ + positions.slice(1, 0, 1)).expand({cells.size(0), -1, -1});
  return at::cat({first.to(cells.scalar_type()), cells}, 1);  // [B, 1 + L, D]
}

Tensor Vit::normed(const Tensor& x) const {
  return tokenizer_norm_ ? tokenizer_norm_->forward(x) : x;
}

Tensor Vit::finish(std::int64_t first, const Tensor& x, DropoutKeys* keys,
                   const Tensor& rows) const {
  const auto rest = std::span(blocks_).subspan(static_cast<std::size_t>(first));
  const Tensor out = run_blocks(rest, x, keys, rows);
  return norm_ ? norm_->forward(out) : out;
}

Tensor Vit::encode(const Tensor& pixels, DropoutKeys* keys, const Tensor& extra,
                   const Tensor& rows) {
  Tensor x = embed(pixels);
  const std::int64_t length = x.size(1);
  if (extra.defined()) x = at::cat({x, extra.to(x.scalar_type())}, 1);  // [B, 1 + L + M, D]
  x = finish(0, dropout(normed(x), config_.dropout, keys), keys, rows);
  return rows.defined() ? x : x.slice(1, 0, length);
}

Tensor Vit::state_before(std::int64_t block, const Tensor& pixels) const {
  const auto before = std::span(blocks_).first(static_cast<std::size_t>(block));
  return run_blocks(before, normed(embed(pixels)));
}

Tensor Vit::features_from(std::int64_t block, const Tensor& state, const Tensor& extra,
                          const Tensor& rows) const {
  if (!extra.defined()) return finish(block, state, nullptr, rows);
  if (block > 0)
    throw UsageError("tokens enter the first block of the encoder, not block {}", block);
  return finish(block, at::cat({state, normed(extra).to(state.scalar_type())}, 1), nullptr, rows);
}

}  // namespace addp
