#include "heads/detect/roi_heads.h"

#include <cmath>

#include "heads/detect/boxes.h"
#include "heads/detect/roi_align.h"
#include "nn/torch.h"

namespace addp {

Tensor level_of_boxes(const Tensor& boxes, const std::vector<std::int64_t>& strides,
                      double level_scale) {
  const Tensor side = box_area(boxes).clamp_min(1e-6).sqrt();
  return (torch::log2(side / level_scale + 1e-8).floor() -
          std::log2(static_cast<double>(strides.front())))
      .clamp(0, static_cast<double>(strides.size() - 1))
      .to(torch::kLong);
}

Tensor pool_regions(const RoiLevels& levels, const Tensor& rois, std::int64_t cells,
                    double level_scale) {
  const Tensor level = level_of_boxes(rois.slice(1, 1), levels.strides, level_scale);
  std::vector<Tensor> parts, places;
  for (std::size_t i = 0; i < levels.maps.size(); ++i) {
    const Tensor here = torch::nonzero(level == static_cast<std::int64_t>(i)).squeeze(1);
    const RoiAlignOptions options{
        .height = cells, .width = cells, .scale = 1 / static_cast<double>(levels.strides[i])};
    parts.push_back(roi_align(levels.maps[i], rois.index_select(0, here), options));
    places.push_back(here);
  }
  return torch::cat(parts).index_select(0, torch::cat(places).argsort());
}

BoxHead::BoxHead(const RoiConfig& config, std::int64_t channels, std::int64_t classes) {
  for (std::int64_t i = 0; i < config.box_convs; ++i) {
    convs_.push_back(register_module(fmt::format("conv{}", i),
                                     std::make_shared<ConvNorm>(channels, channels, 3)));
  }
  hidden_ = register_module(
      "hidden", std::make_shared<Linear>(channels * config.cells * config.cells, config.box_width));
  score = register_module("score", std::make_shared<Linear>(config.box_width, classes + 1));
  delta = register_module("delta", std::make_shared<Linear>(config.box_width, 4 * classes));
}

BoxHead::Output BoxHead::forward(Tensor regions) const {
  for (const auto& conv : convs_) regions = conv->forward(regions);
  const Tensor x = hidden_->forward(regions.flatten(1)).relu();
  return {score->forward(x).to(torch::kFloat32), delta->forward(x).to(torch::kFloat32)};
}

MaskHead::MaskHead(const RoiConfig& config, std::int64_t channels, std::int64_t classes) {
  for (std::int64_t i = 0; i < config.mask_convs; ++i) {
    convs_.push_back(
        register_module(fmt::format("conv{}", i),
                        std::make_shared<ConvNorm>(i == 0 ? channels : config.mask_channels,
                                                   config.mask_channels, 3)));
  }
  const std::int64_t width = config.mask_convs > 0 ? config.mask_channels : channels;
  up_ = register_module("up", std::make_shared<UpConv>(width, config.mask_channels));
  score_ = register_module("score", std::make_shared<Conv2d>(config.mask_channels, classes, 1));
}

Tensor MaskHead::forward(Tensor regions) const {
  for (const auto& conv : convs_) regions = conv->forward(regions);
  return score_->forward(up_->forward(regions).relu()).to(torch::kFloat32);
}

}  // namespace addp
