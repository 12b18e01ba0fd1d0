// What happens inside a box (He et al., "Mask R-CNN", 2017): its class, a better box, a mask.
#pragma once

#include <vector>

#include "heads/backbone/conv_layers.h"

namespace addp {

struct RoiConfig {
  std::int64_t cells = 7, mask_cells = 14;  // of RoIAlign; masks have twice as many
  std::int64_t box_convs = 4, box_width = 1024;
  std::int64_t mask_convs = 4, mask_channels = 256;
  // A box goes to the level whose stride is nearest below its side over this (224 pixels to stride
  // 16 in the paper).
  double level_scale = 14;
};

// The finest levels with their strides, from which boxes are cut out.
struct RoiLevels {
  std::vector<Tensor> maps;
  std::vector<std::int64_t> strides;
};

// Which level each of the boxes [K, 4] belongs to: [K] int64.
Tensor level_of_boxes(const Tensor& boxes, const std::vector<std::int64_t>& strides,
                      double level_scale);
// `rois` [K, 5] as in heads/detect/roi_align.h -> [K, C, cells, cells], each from its level.
Tensor pool_regions(const RoiLevels& levels, const Tensor& rois, std::int64_t cells,
                    double level_scale);

class BoxHead : public torch::nn::Module {
 public:
  BoxHead(const RoiConfig& config, std::int64_t channels, std::int64_t classes);
  struct Output {
    Tensor logits;  // [K, classes + 1], the last is the background
    Tensor deltas;  // [K, 4 * classes]
  };
  Output forward(Tensor regions) const;

  std::shared_ptr<Linear> score, delta;  // the last layers, for their initial weights

 private:
  std::vector<std::shared_ptr<ConvNorm>> convs_;
  std::shared_ptr<Linear> hidden_;
};

class MaskHead : public torch::nn::Module {
 public:
  MaskHead(const RoiConfig& config, std::int64_t channels, std::int64_t classes);
  Tensor forward(Tensor regions) const;  // logits [K, classes, 2 * mask_cells, 2 * mask_cells]

 private:
  std::vector<std::shared_ptr<ConvNorm>> convs_;
  std::shared_ptr<UpConv> up_;
  std::shared_ptr<Conv2d> score_;
};

}  // namespace addp
