#include "nn/layer/pixels.h"

#include "image/imagenet.h"
#include "nn/torch.h"

namespace addp {
namespace {

Tensor per_channel(const std::array<float, 3>& values, const Tensor& like) {
  return torch::tensor({values[0], values[1], values[2]}, like.options().requires_grad(false))
      .view({1, 3, 1, 1});
}

}  // namespace

Tensor normalise_pixels(const Tensor& pixels) {
  return (pixels - per_channel(kImageNetMean, pixels)) / per_channel(kImageNetDeviation, pixels);
}

Tensor denormalise_pixels(const Tensor& pixels) {
  return pixels * per_channel(kImageNetDeviation, pixels) + per_channel(kImageNetMean, pixels);
}

}  // namespace addp
