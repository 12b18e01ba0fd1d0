#include "heads/segment/upernet.h"

#include "nn/torch.h"

namespace addp {
namespace {

constexpr std::array<std::int64_t, 4> kPoolings = {1, 2, 3, 6};

}  // namespace

Tensor drop_channels(const Tensor& x, double rate, DropoutKeys* keys) {
  if (keys == nullptr || rate <= 0) return x;
  const Tensor kept = drop_path(
      torch::ones({x.size(0) * x.size(1), 1}, x.options().requires_grad(false)), rate, keys);
  return x * kept.view({x.size(0), x.size(1), 1, 1}).to(x.scalar_type());
}

PyramidPooling::PyramidPooling(std::int64_t inputs, std::int64_t channels) {
  for (const std::int64_t cells : kPoolings) {
    parts_.push_back(register_module(fmt::format("pool{}", cells),
                                     std::make_shared<ConvNorm>(inputs, channels, 1)));
  }
  const auto all = inputs + static_cast<std::int64_t>(kPoolings.size()) * channels;
  fuse_ = register_module("fuse", std::make_shared<ConvNorm>(all, channels, 3));
}

Tensor PyramidPooling::forward(const Tensor& x) const {
  std::vector<Tensor> all{x};
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Tensor pooled = at::adaptive_avg_pool2d(x, {kPoolings[i], kPoolings[i]});
    all.push_back(resize_map(parts_[i]->forward(pooled), x.sizes().slice(2)));
  }
  return fuse_->forward(at::cat(all, 1));
}

UperNet::UperNet(const std::array<std::int64_t, 4>& inputs, std::int64_t channels,
                 std::int64_t classes, double dropout)
    : dropout_(dropout) {
  pooling_ = register_module("pooling", std::make_shared<PyramidPooling>(inputs[3], channels));
  for (std::size_t level = 0; level < 3; ++level) {
    laterals_.push_back(register_module(fmt::format("lateral{}", level),
                                        std::make_shared<ConvNorm>(inputs[level], channels, 1)));
    smooths_.push_back(register_module(fmt::format("smooth{}", level),
                                       std::make_shared<ConvNorm>(channels, channels, 3)));
  }
  fuse_ = register_module("fuse", std::make_shared<ConvNorm>(4 * channels, channels, 3));
  classify_ = register_module("classify", std::make_shared<Conv2d>(channels, classes, 1));
}

Tensor UperNet::forward(const std::array<Tensor, 4>& maps, DropoutKeys* keys) const {
  std::array<Tensor, 4> levels;
  levels[3] = pooling_->forward(maps[3]);
  for (std::size_t i = 3; i-- > 0;) {  // top down
    const Tensor lateral = laterals_[i]->forward(maps[i]);
    levels[i] = lateral + resize_map(levels[i + 1], lateral.sizes().slice(2));
  }
  std::vector<Tensor> all;
  for (std::size_t i = 0; i < 4; ++i) {
    const Tensor level = i < 3 ? smooths_[i]->forward(levels[i]) : levels[i];
    all.push_back(resize_map(level, levels[0].sizes().slice(2)));
  }
  const Tensor fused = fuse_->forward(at::cat(all, 1));  // [B, channels, h, w]
  return classify_->forward(drop_channels(fused, dropout_, keys));
}

FcnHead::FcnHead(std::int64_t inputs, std::int64_t channels, std::int64_t classes, double dropout)
    : dropout_(dropout) {
  conv_ = register_module("conv", std::make_shared<ConvNorm>(inputs, channels, 3));
  classify_ = register_module("classify", std::make_shared<Conv2d>(channels, classes, 1));
}

Tensor FcnHead::forward(const Tensor& map, DropoutKeys* keys) const {
  return classify_->forward(drop_channels(conv_->forward(map), dropout_, keys));
}

}  // namespace addp
