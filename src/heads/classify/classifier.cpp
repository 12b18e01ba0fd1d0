#include "heads/classify/classifier.h"

#include "model/init.h"
#include "nn/torch.h"

namespace addp {

std::int64_t ClassifierConfig::picture_size() const {
  constexpr std::int64_t kUsual = 224;
  if (size > 0) return size;
  const EncoderConfig& encoder = backbone.encoder;
  return encoder.kind == EncoderKind::kVit ? encoder.vit.grid.width * encoder.vit.patch : kUsual;
}

Classifier::Classifier(const ClassifierConfig& config, std::shared_ptr<const Vqgan> tokenizer)
    : config_(config), tokenizer_(std::move(tokenizer)) {
  encoder_ = register_module("encoder", make_backbone(config.backbone, tokenizer_));
  const std::int64_t width = encoder_->width();
  if (config.head == ClassifierHead::kFineTuned) {
    fc_norm_ = register_module("fc_norm", std::make_shared<LayerNorm>(width));
  } else {
    probe_norm_ = register_module(
        "probe_norm",
        torch::nn::BatchNorm1d(torch::nn::BatchNorm1dOptions(width).affine(false).eps(1e-6)));
  }
  head_ = register_module("head", std::make_shared<Linear>(width, config.classes));
}

Tensor Classifier::pooled(const Tensor& pixels, DropoutKeys* keys) {
  const Tensor features = encoder_->features(pixels, keys);  // [B, 1 + L, D]
  return config_.class_position ? features.select(1, 0) : pool_features(features);
}

Tensor Classifier::logits(const Tensor& pooled) {
  return head_->forward(fc_norm_ ? fc_norm_->forward(pooled) : probe_norm_(pooled));
}

Tensor Classifier::forward(const Tensor& pixels, DropoutKeys* keys) {
  return logits(pooled(pixels, keys));
}

void initialise_classifier(Classifier& classifier, HeadStart start, const RandomStream& stream) {
  initialise(classifier, stream);
  const double deviation = start == HeadStart::kScratch      ? 0.02
                           : start == HeadStart::kFineTuning ? 2e-5
                                                             : 0.01;
  fill_truncated_normal(classifier.named_parameters()["head.weight"], deviation,
                        stream.fork("head"));
}

std::vector<ParamGroup> classifier_groups(const Classifier& classifier, double layer_decay,
                                          double weight_decay) {
  const BackboneConfig& backbone = classifier.config().backbone;
  if (!backbone.is_transformer()) return decay_groups(classifier, weight_decay);
  return layer_decay_groups(classifier, backbone.depth(), layer_decay, weight_decay,
                            backbone_file_names(backbone));
}

}  // namespace addp
