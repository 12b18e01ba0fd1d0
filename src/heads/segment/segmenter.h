// Semantic segmentation: an image encoder, four levels of its features, UperNet and an auxiliary
// head for training.
#pragma once

#include <string>
#include <vector>

#include "heads/backbone/maps.h"
#include "heads/segment/upernet.h"

namespace addp {

struct SegmenterConfig {
  MapsConfig maps;
  std::vector<std::string> class_names;
  std::int64_t channels = 512;            // of UperNet
  std::int64_t auxiliary_channels = 256;  // of the auxiliary head
  std::int64_t size = 512;                // side of the training crops
  double dropout = 0.1;

  std::int64_t classes() const { return static_cast<std::int64_t>(class_names.size()); }
};

struct SegmenterOutput {
  Tensor logits, auxiliary;  // [B, classes, h, w] at the strides of their maps
};

class Segmenter : public torch::nn::Module {
 public:
  explicit Segmenter(const SegmenterConfig& config, std::shared_ptr<const Vqgan> tokenizer = {});
  const SegmenterConfig& config() const { return config_; }
  Maps& maps() { return *maps_; }
  const Maps& maps() const { return *maps_; }

  SegmenterOutput forward(const Tensor& pixels, DropoutKeys* keys);  // both heads, for training
  Tensor logits(const Tensor& pixels);                               // [B, classes, H, W]

 private:
  // The four levels: a transformer's maps brought to a quarter, half, one and two times its stride.
  std::array<Tensor, 4> levels(const Tensor& pixels, DropoutKeys* keys);

  SegmenterConfig config_;
  std::shared_ptr<Maps> maps_;
  std::vector<std::shared_ptr<Rescale>> scales_;  // of a transformer
  std::shared_ptr<UperNet> decode_;
  std::shared_ptr<FcnHead> auxiliary_;
};

// How many pixels of labels [B, H, W] (class numbers and kIgnoreLabel) count.
double counted_pixels(const Tensor& labels);
// The sum of the cross-entropy over the pixels that count, at the size of the labels, divided by
// `pixels`: their number, or its mean over the processes that share a batch.
Tensor segmentation_loss(const Tensor& logits, const Tensor& labels, double pixels);

}  // namespace addp
