#include "tokenizer/feature_discriminator.h"

#include <cmath>

#include "nn/torch.h"

namespace addp {
namespace {

Tensor unit(const Tensor& x) { return x / (x.norm() + 1e-12); }

}  // namespace

SpectralConv2d::SpectralConv2d(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel)
    : padding_(kernel / 2) {
  weight_ = register_parameter("weight", torch::empty({outputs, inputs, kernel, kernel}));
  bias_ = register_parameter("bias", torch::empty({outputs}));
  // Any start that no singular space is orthogonal to; the iteration finds the rest.
  left_ = register_buffer("left", torch::full({outputs}, 1 / std::sqrt(double(outputs))));
}

Tensor SpectralConv2d::forward(const Tensor& x) {
  const Tensor matrix = weight_.flatten(1);  // [outputs, rest]
  Tensor right;
  {
    torch::NoGradGuard guard;
    right = unit(matrix.t().mv(left_));
    if (is_training()) left_.copy_(unit(matrix.mv(right)));
  }
  const Tensor largest = left_.clone().dot(matrix.mv(right));
  return torch::conv2d(x, weight_ / largest, bias_, 1, padding_);
}

FeatureDiscriminator::FeatureDiscriminator(std::span<const std::int64_t> channels,
                                           std::int64_t width) {
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const std::string name = "head" + std::to_string(i) + "_";
    Head head{std::make_shared<SpectralConv2d>(channels[i], width, 1),
              std::make_shared<SpectralConv2d>(width, width, 3),
              std::make_shared<SpectralConv2d>(width, 1, 1)};
    register_module(name + "in", head.in);
    register_module(name + "middle", head.middle);
    register_module(name + "out", head.out);
    heads_.push_back(head);
  }
}

std::vector<Tensor> FeatureDiscriminator::forward(std::span<const Tensor> maps) {
  constexpr double kSlope = 0.2;
  std::vector<Tensor> logits;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    // The heads cannot amplify, and a picture and its reconstruction differ little: without a scale
    // no logit would leave the middle of the hinge.
    const double scale = std::sqrt(static_cast<double>(maps[i].size(1)));
    Tensor x = torch::leaky_relu(heads_[i].in->forward(maps[i] * scale), kSlope);
    x = torch::leaky_relu(heads_[i].middle->forward(x), kSlope);
    logits.push_back(heads_[i].out->forward(x));
  }
  return logits;
}

}  // namespace addp
