// An image classifier: an encoder, the mean of its cells, a norm and a linear layer. Fine-tuning
// trains all of it, a linear probe the last layer alone.
#pragma once

#include "heads/backbone/backbone.h"
#include "nn/layer/param_groups.h"

namespace addp {

enum class ClassifierHead {
  kFineTuned,  // `fc_norm`, a LayerNorm, stands before the linear layer
  kProbe       // `probe_norm`, a BatchNorm without weights, as in MAE's linear probing
};

struct ClassifierConfig {
  BackboneConfig backbone;
  ClassifierHead head = ClassifierHead::kFineTuned;
  std::int64_t classes = 1000;
  // For people, and as the data set spells them (folder names); empty in foreign files.
  std::vector<std::string> class_names, class_keys;
  std::int64_t size = 0;  // side of the pictures it was trained on; 0: the grid says it
  double crop = 1;        // share of the middle square's side that is looked at
  // The head sees the class position instead of the mean of the cells.
  bool class_position = false;

  std::int64_t picture_size() const;
};

class Classifier : public torch::nn::Module {
 public:
  // The tokenizer is needed by a backbone of tokens only.
  explicit Classifier(const ClassifierConfig& config, std::shared_ptr<const Vqgan> tokenizer = {});
  const ClassifierConfig& config() const { return config_; }
  ImageEncoder& encoder() { return *encoder_; }
  const std::shared_ptr<const Vqgan>& tokenizer() const { return tokenizer_; }

  // pixels [B, 3, H, W], normalised -> logits [B, classes]
  Tensor forward(const Tensor& pixels, DropoutKeys* keys = nullptr);
  // The two halves of it: the mean feature [B, D] (or the class position's), and logits from it.
  Tensor pooled(const Tensor& pixels, DropoutKeys* keys = nullptr);
  Tensor logits(const Tensor& pooled);

 private:
  ClassifierConfig config_;
  std::shared_ptr<const Vqgan> tokenizer_;
  std::shared_ptr<ImageEncoder> encoder_;
  std::shared_ptr<LayerNorm> fc_norm_;
  torch::nn::BatchNorm1d probe_norm_{nullptr};
  std::shared_ptr<Linear> head_;
};

// First weights, as model/init.h draws them but for the linear layer: its deviation is 0.02 from
// scratch, so that the first guess is about even, and as in MAE next to nothing on a pre-trained
// encoder, which a fresh head must not disturb, and 0.01 on a frozen one.
enum class HeadStart { kScratch, kFineTuning, kProbing };
void initialise_classifier(Classifier& classifier, HeadStart start, const RandomStream& stream);

// Layer-wise decay for a transformer; one rate for all layers of other encoders.
std::vector<ParamGroup> classifier_groups(const Classifier& classifier, double layer_decay,
                                          double weight_decay);

}  // namespace addp
