// Small networks for the tests of dense heads.
#pragma once

#include "heads/detect/detector.h"
#include "heads/segment/segmenter.h"
#include "nn/torch.h"

namespace addp::testing {

inline EncoderConfig tiny_vit(std::int64_t side, std::int64_t patch) {
  EncoderConfig encoder;
  encoder.vit.width = 32;
  encoder.vit.depth = 4;
  encoder.vit.heads = 2;
  encoder.vit.patch = patch;
  BackboneConfig backbone;
  backbone.encoder = encoder;
  return fine_tuning_backbone(backbone, {side / patch, side / patch}, 0).encoder;
}

inline EncoderConfig tiny_resnet() {
  EncoderConfig encoder;
  encoder.kind = EncoderKind::kResNet;
  encoder.resnet.trunk.depths = {1, 1, 1, 1};
  encoder.resnet.trunk.width = 8;
  return encoder;
}

inline SegmenterConfig tiny_segmenter(const EncoderConfig& encoder, std::int64_t size) {
  SegmenterConfig config;
  config.maps.backbone.encoder = encoder;
  config.class_names = {"ground", "thing", "other"};
  config.channels = 16;
  config.auxiliary_channels = 8;
  config.size = size;
  config.dropout = 0;
  return config;
}

inline DetectorConfig tiny_detector(const EncoderConfig& encoder, std::int64_t size) {
  DetectorConfig config;
  config.maps.backbone.encoder = encoder;
  config.class_names = {"box", "disc"};
  config.category_ids = {1, 2};
  config.size = size;
  config.channels = 16;
  config.rpn.strides = encoder.kind == EncoderKind::kVit ? std::vector<std::int64_t>{4, 8, 16}
                                                         : std::vector<std::int64_t>{4, 8, 16, 32};
  config.rpn.anchor_scale = 3;
  config.rpn.convs = 1;
  config.roi = {7, 7, 1, 32, 1, 16, 4};
  config.proposals = 50;
  return config;
}

inline Tensor noise_pixels(std::int64_t count, std::int64_t height, std::int64_t width,
                           std::uint64_t seed = 1) {
  const Tensor out = torch::empty({count, 3, height, width});
  RandomStream(seed, "pixels")
      .fill_normal({out.data_ptr<float>(), static_cast<std::size_t>(out.numel())});
  return out;
}

}  // namespace addp::testing
