#include "heads/backbone/conv_layers.h"

#include "base/error.h"
#include "nn/torch.h"

namespace addp {

MapNorm::MapNorm(std::int64_t channels)
    : norm_(register_module("norm", std::make_shared<LayerNorm>(channels))) {}

Tensor MapNorm::forward(const Tensor& x) const {
  return norm_->forward(x.permute({0, 2, 3, 1})).permute({0, 3, 1, 2});
}

ConvNorm::ConvNorm(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel, bool relu)
    : relu_(relu),
      conv_(register_module(
          "conv", std::make_shared<Conv2d>(
                      inputs, outputs, kernel,
                      ConvOptions{.stride = 1, .padding = kernel / 2, .with_bias = false}))),
      norm_(register_module("norm", std::make_shared<MapNorm>(outputs))) {}

Tensor ConvNorm::forward(const Tensor& x) const {
  const Tensor y = norm_->forward(conv_->forward(x.contiguous(torch::MemoryFormat::ChannelsLast)));
  return relu_ ? y.relu() : y;
}

UpConv::UpConv(std::int64_t inputs, std::int64_t outputs)
    : weight(register_parameter("weight", torch::empty({inputs, outputs, 2, 2}))),
      bias(register_parameter("bias", torch::empty({outputs}))) {}

Tensor UpConv::forward(const Tensor& x) const {
  return at::conv_transpose2d(x, weight, bias, /*stride=*/2);
}

Rescale::Rescale(std::int64_t channels, std::int64_t from_stride, std::int64_t to_stride,
                 bool narrowing)
    : outputs_(channels) {
  std::int64_t stride = from_stride;
  while (stride > to_stride && stride % 2 == 0) {
    const std::int64_t next = narrowing ? std::max<std::int64_t>(outputs_ / 2, 1) : outputs_;
    if (!ups_.empty()) {
      norms_.push_back(register_module(fmt::format("norm{}", norms_.size()),
                                       std::make_shared<MapNorm>(outputs_)));
    }
    ups_.push_back(register_module(fmt::format("up{}", ups_.size()),
                                   std::make_shared<UpConv>(outputs_, next)));
    outputs_ = next;
    stride /= 2;
  }
  for (; stride < to_stride; stride *= 2) ++poolings_;
  if (stride != to_stride) {
    throw UsageError(
        "a map of stride {} cannot be brought to stride {}: choose a power of two apart",
        from_stride, to_stride);
  }
}

Tensor Rescale::forward(Tensor x) const {
  for (std::size_t i = 0; i < ups_.size(); ++i) {
    if (i > 0) x = at::gelu(norms_[i - 1]->forward(x));
    x = ups_[i]->forward(x);
  }
  for (std::int64_t i = 0; i < poolings_; ++i) x = at::max_pool2d(x, 2, 2, 0, 1, /*ceil=*/true);
  return x;
}

Tensor resize_map(const Tensor& x, torch::IntArrayRef size) {
  if (x.sizes().slice(2) == size) return x;
  return at::upsample_bilinear2d(x, size, /*align_corners=*/false);
}

}  // namespace addp
