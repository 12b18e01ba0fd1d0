// ResNet (He et al. 2016) with bottleneck blocks, stride in the 3x3 convolution; parameter names as
// in torchvision's checkpoints.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "nn/encoder/image_encoder.h"
#include "nn/layer/layers.h"

namespace addp {

struct ResNetConfig {
  std::array<std::int64_t, 4> depths = {3, 4, 6, 3};  // blocks of each stage; these are ResNet-50's
  std::int64_t width = 64;   // channels of the stem; the last stage has 32 times as many
  bool pool = true;          // after the stem; without it all strides are half as long
  std::int64_t classes = 0;  // outputs of `fc`; 0: no classifier
  double drop_path = 0;      // of the last block; rises linearly from 0

  // Channels of the four feature maps.
  std::array<std::int64_t, 4> channels() const {
    return {4 * width, 8 * width, 16 * width, 32 * width};
  }
  std::array<std::int64_t, 4> strides() const {
    const std::int64_t first = pool ? 4 : 2;
    return {first, 2 * first, 4 * first, 8 * first};
  }
};

class Bottleneck : public torch::nn::Module {
 public:
  Bottleneck(std::int64_t inputs, std::int64_t width, std::int64_t stride, double drop_path = 0);
  Tensor forward(const Tensor& x, DropoutKeys* keys = nullptr);

 private:
  double drop_path_;
  std::shared_ptr<Conv2d> conv1_, conv2_, conv3_;
  torch::nn::BatchNorm2d bn1_, bn2_, bn3_;
  std::shared_ptr<Conv2d> shortcut_;  // `downsample`, where the shape changes
  torch::nn::BatchNorm2d shortcut_norm_{nullptr};
};

class ResNet : public torch::nn::Module {
 public:
  explicit ResNet(const ResNetConfig& config);

  // The four stages, strides as configured: what a feature pyramid or a segmentation head takes.
  std::array<Tensor, 4> stages(const Tensor& pixels, DropoutKeys* keys = nullptr);
  // The mean over the last stage [B, 32 * width], through `fc` [B, classes] where there is one.
  Tensor forward(const Tensor& pixels);

  const ResNetConfig& config() const { return config_; }

 private:
  ResNetConfig config_;
  std::shared_ptr<Conv2d> conv1_;
  torch::nn::BatchNorm2d bn1_;
  std::array<std::vector<std::shared_ptr<Bottleneck>>, 4> layers_;
  std::shared_ptr<Linear> fc_;
};

struct ResNetEncoderConfig {
  ResNetConfig trunk;
  std::int64_t stride = 16;  // pixels of a token, each way: a stride of the trunk
  std::int64_t width = 768;  // of the features
};

// The network as ADDP's image encoder. The paper says no more than "ResNet50 as the image encoder"
// and counts 26M parameters, so this was decided here:
//   - The trunk stays the ordinary ResNet, strides included, so that what was learned goes
//   unchanged into a
//     classifier or a feature pyramid, and a checkpoint of either goes in.
//   - The token grid is that of the stage with the tokens' stride (16: the third). Each coarser
//   stage is
//     added to it after a 1x1 projection and nearest upsampling, as in the top-down path of a
//     feature pyramid, so that every layer takes part. For ResNet-50 at stride 16 and width 768 the
//     trunk's 23.5M and the projections' 2.4M make 25.9M.
//   - The class position is the projection of the pooled last stage, which is what a ResNet
//   classifies by.
//   - A LayerNorm ends it, as it ends the Vision Transformer: the decoder meets features of one
//   scale.
class ResNetEncoder : public ImageEncoder {
 public:
  explicit ResNetEncoder(const ResNetEncoderConfig& config);

  std::int64_t width() const override { return config_.width; }
  std::int64_t stride() const override { return config_.stride; }
  const ResNetEncoderConfig& config() const { return config_; }
  ResNet& trunk() { return *trunk_; }

 protected:
  Tensor encode(const Tensor& pixels, DropoutKeys* keys, const Tensor& extra,
                const Tensor& rows) override;

 private:
  ResNetEncoderConfig config_;
  std::size_t level_;  // the stage with the token grid
  std::shared_ptr<ResNet> trunk_;
  // Of stages level_ to 3; the last has the bias.
  std::vector<std::shared_ptr<Conv2d>> projections_;
  std::shared_ptr<LayerNorm> norm_;
};

}  // namespace addp
