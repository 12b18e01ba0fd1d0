#include "heads/classify/classifier.h"

#include "heads/backbone/backbone_json.h"
#include "machine/machine.h"
#include "model/init.h"
#include "nn/torch.h"
#include "tokenizer/vqgan_file.h"

namespace addp {

NLOHMANN_JSON_SERIALIZE_ENUM(ClassifierHead, {{ClassifierHead::kFineTuned, "fine-tuned"},
                                              {ClassifierHead::kProbe, "probe"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ClassifierConfig, backbone, head, classes,
                                                class_names, class_keys, size, crop)

namespace {

ClassifierConfig classifier_config_from(const TensorMap& tensors, const std::string& source) {
  ClassifierConfig config;
  config.backbone.encoder.vit = vit_config_from(tensors, source);
  config.classes = shape_of(tensors, "head.weight", 2, source)[0];
  return config;
}

}  // namespace

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
  return pool_features(encoder_->features(pixels, keys));
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

std::shared_ptr<Classifier> load_classifier(const std::filesystem::path& path, std::int64_t heads) {
  const ModelFile file = open_model(path);
  require_kind(file, {"classifier"});
  ClassifierConfig config = file.foreign()
                                ? classifier_config_from(file.tensors, file.source)
                                : parse_config<ClassifierConfig>(file.config, file.source);
  if (heads > 0) config.backbone.encoder.vit.heads = heads;
  const bool tokens = config.backbone.input == BackboneInput::kTokens;
  auto classifier =
      on_device(std::make_shared<Classifier>(config, tokens ? tokenizer_in(file) : nullptr));
  load_strictly(*classifier, file.tensors,
                {.source = file.source,
                 .unused = {std::string(kTokenizerInside) + "*"},
                 .file_name = backbone_file_names(config.backbone)});
  classifier->eval();
  return classifier;
}

void save_classifier(const std::filesystem::path& path, const Classifier& classifier,
                     const std::string& provenance) {
  const ClassifierConfig& config = classifier.config();
  ModelFile file{.kind = "classifier",
                 .tensors = state_of(classifier, backbone_file_names(config.backbone)),
                 .config = config};
  if (classifier.tokenizer()) put_tokenizer(*classifier.tokenizer(), file);
  save_model(path, file, provenance);
}

}  // namespace addp
