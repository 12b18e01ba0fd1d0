// Detection with instance masks: Mask R-CNN on an image encoder. A ViT works as in ViTDet (windowed
// attention, a simple feature pyramid), a ResNet with a top-down feature pyramid.
#pragma once

#include <functional>
#include <string>

#include "heads/detect/pyramid.h"
#include "heads/detect/roi_heads.h"
#include "heads/detect/rpn.h"

namespace addp {

struct DetectorConfig {
  MapsConfig maps;
  std::vector<std::string> class_names;
  std::vector<std::int64_t> category_ids;  // of the classes, as results files name them
  std::int64_t size = 1024;                // pictures are fitted into this square,
  double magnify = 0;  // or, where this is above 0, enlarged by it and seen in windows of that side
  std::int64_t channels = 256;  // of the pyramid
  RpnConfig rpn;
  RoiConfig roi;
  // Kept of each picture, the most likely first. The box head learns to tell these apart: others
  // would be strange to it.
  std::int64_t proposals = 1000;

  std::int64_t classes() const { return static_cast<std::int64_t>(class_names.size()); }
};

// How many anchors and regions a training step looks at, for each picture.
struct DetectorSampling {
  std::int64_t anchors = 256;
  std::int64_t regions = 512;
  double positive_share = 0.25;  // of the regions
};

// The share of a batch that one process computes.
struct DetectorShare {
  std::int64_t first = 0;  // number of its first picture in the batch of all processes
  // The mean of a count over the processes: what a mean over regions divides by.
  std::function<double(double)> mean_count = [](double count) { return count; };
};

struct DetectorLosses {
  Tensor rpn_score{}, rpn_box{}, score{}, box{}, mask{};
  Tensor total() const { return rpn_score + rpn_box + score + box + mask; }
};

struct DetectorLimits {
  double score = 0.05;  // lower ones are no detections
  double nms = 0.5;
  std::int64_t count = 100;  // detections per picture
  std::int64_t views = 1;    // of a picture, up to 4: it and its mirror images (views.h)
};

// Of one picture, best first.
struct RawDetections {
  Tensor boxes;   // [K, 4] corners in pixels of the square
  Tensor scores;  // [K]
  Tensor labels;  // [K] int64
  Tensor masks;   // [K, m, m] probabilities over the box

  RawDetections to(torch::Device device) const {
    return {boxes.to(device), scores.to(device), labels.to(device), masks.to(device)};
  }
};

// One after the other.
RawDetections joined(const std::vector<RawDetections>& parts);

class Detector : public torch::nn::Module {
 public:
  explicit Detector(const DetectorConfig& config, std::shared_ptr<const Vqgan> tokenizer = {});
  const DetectorConfig& config() const { return config_; }
  Maps& maps() { return *maps_; }
  const Maps& maps() const { return *maps_; }
  void initialise_weights(const RandomStream& stream);

  // Normalised pixels [B, 3, H, W].
  DetectorLosses losses(const Tensor& pixels, const std::vector<DetectionTarget>& targets,
                        const DetectorSampling& sampling, const RandomStream& stream,
                        DropoutKeys* keys, const DetectorShare& share = {});
  std::vector<RawDetections> detect(const Tensor& pixels, const DetectorLimits& limits);

 private:
  struct Regions;
  RoiLevels roi_levels(const std::vector<Tensor>& levels) const;
  void add_region_losses(const RoiLevels& levels, const Regions& regions,
                         const std::vector<DetectionTarget>& targets, const DetectorShare& share,
                         DetectorLosses& losses) const;
  RawDetections finish(const RoiLevels& levels, std::int64_t picture, const Tensor& proposals,
                       const Tensor& pixels, const DetectorLimits& limits) const;

  DetectorConfig config_;
  std::shared_ptr<Maps> maps_;
  std::shared_ptr<FeaturePyramid> pyramid_;
  std::shared_ptr<Rpn> rpn_;
  std::shared_ptr<BoxHead> box_;
  std::shared_ptr<MaskHead> mask_;
};

}  // namespace addp
