#include "nn/encoder/vit.h"

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

Tensor Vit::patches(const Tensor& pixels) const {
  const std::int64_t patch = config_.patch;
  if (pixels.size(2) % patch != 0 || pixels.size(3) % patch != 0) {
    throw UsageError("a picture of {}x{} pixels cannot be cut into patches of {}: resize it",
                     pixels.size(3), pixels.size(2), patch);
  }
  return patch_embed_->forward(pixels);
}

Tensor Vit::place(const Tensor& patches, const Grid& grid) const {
  const Tensor positions = resize_positions(pos_embed_, config_.grid, grid);
  const Tensor cells = patches + positions.slice(1, 1);
  const Tensor first = (cls_token_ + positions.slice(1, 0, 1)).expand({patches.size(0), -1, -1});
  return at::cat({first.to(cells.scalar_type()), cells}, 1);
}

Tensor Vit::embed(const Tensor& pixels, DropoutKeys* /*keys*/) const {
  return place(patches(pixels), grid_of(pixels));
}

Tensor Vit::features_of(const Tensor& patches, const Grid& grid, DropoutKeys* keys,
                        const Tensor& extra) const {
  Tensor x = place(patches, grid);  // [B, 1 + L, D]
  const std::int64_t length = x.size(1);
  if (extra.defined()) x = at::cat({x, extra.to(x.scalar_type())}, 1);  // [B, 1 + L + M, D]
  if (tokenizer_norm_) x = tokenizer_norm_->forward(x);
  x = run_blocks(blocks_, dropout(x, config_.dropout, keys), keys);
  if (norm_) x = norm_->forward(x);
  return x.slice(1, 0, length);
}

Tensor Vit::encode(const Tensor& pixels, DropoutKeys* keys, const Tensor& extra) {
  return features_of(patches(pixels), grid_of(pixels), keys, extra);
}

}  // namespace addp
