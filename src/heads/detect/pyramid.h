// Feature pyramids for detection: maps of one width at several strides.
#pragma once

#include <array>

#include "heads/backbone/conv_layers.h"
#include "heads/backbone/maps.h"

namespace addp {

class FeaturePyramid : public torch::nn::Module {
 public:
  virtual std::vector<Tensor> forward(const std::array<Tensor, 4>& maps) const = 0;
};

// ViTDet's: every level from the ViT's last map alone. For a ResNet, Lin et al.'s "Feature pyramid
// networks" (2017). Strides beyond those that the maps give (twice a patch; 32) are every second
// cell of the level before.
std::shared_ptr<FeaturePyramid> make_pyramid(const Maps& maps,
                                             const std::vector<std::int64_t>& strides,
                                             std::int64_t channels);

}  // namespace addp
