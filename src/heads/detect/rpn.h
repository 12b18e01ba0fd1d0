// The region proposal network (Ren et al., "Faster R-CNN", 2015): for every anchor how likely it
// holds a thing, and where that is.
#pragma once

#include "heads/backbone/conv_layers.h"
#include "heads/detect/anchors.h"

namespace addp {

// What is to be found in one picture of a batch.
struct DetectionTarget {
  Tensor boxes;   // [G, 4] corners in pixels
  Tensor labels;  // [G] int64
  Tensor masks;   // [G, H, W] bytes, 0 and 1
};

struct RpnConfig {
  std::vector<std::int64_t> strides = {4, 8, 16, 32, 64};
  double anchor_scale = 8;  // side of a level's anchors over its stride
  std::vector<double> ratios = {0.5, 1, 2};
  std::int64_t convs = 2;
};

struct RpnOutput {
  std::vector<Tensor> anchors;  // of each level [N, 4]
  std::vector<Tensor> logits;   // [B, N]
  std::vector<Tensor> deltas;   // [B, N, 4]
};

class Rpn : public torch::nn::Module {
 public:
  Rpn(const RpnConfig& config, std::int64_t channels);
  RpnOutput forward(const std::vector<Tensor>& levels) const;

  std::shared_ptr<Conv2d> score, delta;  // the last layers, for their initial weights

 private:
  RpnConfig config_;
  std::vector<std::shared_ptr<ConvNorm>> convs_;
};

struct RpnLoss {
  Tensor score, box;
};
// `first_picture` is the number of the first picture in the batch of all processes.
RpnLoss rpn_loss(const RpnOutput& output, const std::vector<DetectionTarget>& targets,
                 std::int64_t anchors_per_picture, const RandomStream& stream,
                 std::int64_t first_picture);

// The best boxes of each picture [K, 4], best first, non-maximum suppression within each level.
std::vector<Tensor> rpn_proposals(const RpnOutput& output, std::int64_t height, std::int64_t width,
                                  std::int64_t count);

}  // namespace addp
