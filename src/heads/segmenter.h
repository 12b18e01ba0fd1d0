// Semantic segmentation: an image encoder, four levels of its features, UperNet and an auxiliary
// head for training.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heads/trunk.h"
#include "heads/upernet.h"

namespace addp {

struct SegmenterConfig {
  TrunkConfig trunk;
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
  Trunk& trunk() { return *trunk_; }
  const Trunk& trunk() const { return *trunk_; }

  SegmenterOutput forward(const Tensor& pixels, Noise* noise);  // both heads, for training
  Tensor logits(const Tensor& pixels);                          // [B, classes, H, W]

 private:
  // The four levels: a transformer's maps brought to a quarter, half, one and two times its stride.
  std::array<Tensor, 4> levels(const Tensor& pixels, Noise* noise);

  SegmenterConfig config_;
  std::shared_ptr<Trunk> trunk_;
  std::vector<std::shared_ptr<Rescale>> scales_;  // of a transformer
  std::shared_ptr<UperNet> decode_;
  std::shared_ptr<FcnHead> auxiliary_;
};

// Mean cross-entropy over the pixels that count, at the size of the labels [B, H, W] (class numbers
// and kIgnoreLabel).
Tensor segmentation_loss(const Tensor& logits, const Tensor& labels);

void save_segmenter(const std::filesystem::path& path, const Segmenter& segmenter,
                    const std::string& provenance);
std::shared_ptr<Segmenter> load_segmenter(const std::filesystem::path& path);

}  // namespace addp
