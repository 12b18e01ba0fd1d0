#include "heads/segment/segmenter.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/set/dataset.h"
#include "nn/torch.h"

namespace addp {

Segmenter::Segmenter(const SegmenterConfig& config, std::shared_ptr<const Vqgan> tokenizer)
    : config_(config) {
  maps_ = register_module("maps", std::make_shared<Maps>(config.maps, std::move(tokenizer)));
  std::array<std::int64_t, 4> inputs = maps_->channels();
  if (maps_->is_transformer()) {
    const std::int64_t stride = maps_->strides()[0];
    for (std::size_t level = 0; level < 4; ++level) {
      scales_.push_back(register_module(
          fmt::format("scale{}", level),
          std::make_shared<Rescale>(inputs[level], 4 * stride, (std::int64_t{1} << level) * stride,
                                    /*narrowing=*/false)));
    }
  }
  decode_ = register_module("decode", std::make_shared<UperNet>(inputs, config.channels,
                                                                config.classes(), config.dropout));
  auxiliary_ =
      register_module("auxiliary", std::make_shared<FcnHead>(inputs[2], config.auxiliary_channels,
                                                             config.classes(), config.dropout));
}

std::array<Tensor, 4> Segmenter::levels(const Tensor& pixels, DropoutKeys* keys) {
  std::array<Tensor, 4> maps = maps_->forward(pixels, keys);
  for (std::size_t i = 0; i < scales_.size(); ++i) maps[i] = scales_[i]->forward(maps[i]);
  return maps;
}

SegmenterOutput Segmenter::forward(const Tensor& pixels, DropoutKeys* keys) {
  const auto maps = levels(pixels, keys);
  return {decode_->forward(maps, keys), auxiliary_->forward(maps[2], keys)};
}

Tensor Segmenter::logits(const Tensor& pixels) {
  const Tensor coarse = decode_->forward(levels(pixels, nullptr), nullptr).to(torch::kFloat32);
  return resize_map(coarse, pixels.sizes().slice(2));
}

double counted_pixels(const Tensor& labels) {
  return static_cast<double>((labels != kIgnoreLabel).sum().item<std::int64_t>());
}

Tensor segmentation_loss(const Tensor& logits, const Tensor& labels, double pixels) {
  const Tensor target = labels.to(torch::kLong);
  const Tensor full = resize_map(logits.to(torch::kFloat32), target.sizes().slice(1));
  const Tensor sum =
      at::cross_entropy_loss(full, target, {}, at::Reduction::Sum, /*ignore_index=*/kIgnoreLabel);
  return sum / std::max(pixels, 1.0);  // crops may hold nothing that counts
}

}  // namespace addp
