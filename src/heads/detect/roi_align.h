// RoIAlign (He et al., "Mask R-CNN", 2017, section 3): bilinear samples of a feature map
// inside each cell of a grid laid over a box, averaged per cell. Differentiable with respect
// to the features. Pixel centres lie at half coordinates (Detectron2's correction).
#pragma once

#include <cstdint>

#include "nn/types.h"

namespace addp {

struct RoiAlignOptions {
  std::int64_t height = 7, width = 7;  // cells
  double scale = 1;                    // feature pixels per picture pixel (1 / stride)
  std::int64_t sampling = 0;           // samples per cell and direction; 0: one per feature pixel
};

// `feature` [B, C, H, W], `rois` [K, 5]: picture index and corners in picture pixels. Gives [K, C,
// height, width] in channels-last order; runs on the CPU, on all of its threads.
Tensor roi_align(const Tensor& feature, const Tensor& rois, const RoiAlignOptions& options);

}  // namespace addp
