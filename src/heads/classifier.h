// An image classifier: a pre-trained encoder, the mean of its patch positions, a norm and a linear
// layer.
#pragma once

#include <filesystem>

#include "nn/encoders.h"
#include "nn/load.h"
#include "nn/model_file.h"
#include "nn/param_groups.h"

namespace addp {

struct ClassifierConfig {
  EncoderConfig encoder;  // fine-tuning drops a ViT's `tokenizer_norm` and `norm`
  std::int64_t classes = 1000;
};

// The encoder of a pre-trained network as a classifier takes it, for pictures of another grid.
ClassifierConfig classifier_config(EncoderConfig pretrained, const Grid& grid,
                                   std::int64_t classes);

class Classifier : public torch::nn::Module {
 public:
  explicit Classifier(const ClassifierConfig& config);
  const ClassifierConfig& config() const { return config_; }
  ImageEncoder& encoder() { return *encoder_; }

  Tensor forward(const Tensor& pixels,
                 Noise* noise = nullptr);  // normalised -> logits [B, classes]

 private:
  ClassifierConfig config_;
  std::shared_ptr<ImageEncoder> encoder_;
  std::shared_ptr<LayerNorm> fc_norm_;
  std::shared_ptr<Linear> head_;
};

// Layer-wise decay for a ViT; one rate for all layers of other encoders.
std::vector<ParamGroup> classifier_groups(const Classifier& classifier, double layer_decay,
                                          double weight_decay);

// A fine-tuned classifier, ours or one in MAE's layout. `heads` above 0 replaces the guess for a
// foreign file of unusual width.
std::shared_ptr<Classifier> load_classifier(const std::filesystem::path& path,
                                            std::int64_t heads = 0);
void save_classifier(const std::filesystem::path& path, const Classifier& classifier,
                     const std::string& provenance);

// The encoder's configuration in a pre-trained ADDP file, and its weights into an encoder that may
// have another grid (position embeddings are resized) and lack the outer norms. What else the file
// holds (decoder, tokenizer) is not looked at.
EncoderConfig pretrained_encoder_config(const ModelFile& file);
LoadReport load_pretrained_encoder(ImageEncoder& encoder, const EncoderConfig& config,
                                   const ModelFile& file);

}  // namespace addp
