#include "heads/classifier.h"

#include "nn/config_json.h"
#include "nn/position.h"
#include "nn/torch.h"

namespace addp {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ClassifierConfig, encoder, classes)

namespace {

constexpr const char* kPositions = "pos_embed";

ClassifierConfig config_from(const TensorMap& tensors, const std::string& source) {
  ClassifierConfig config;
  config.encoder.vit = vit_config_from(tensors, source);
  config.classes = shape_of(tensors, "head.weight", 2, source)[0];
  return config;
}

}  // namespace

ClassifierConfig classifier_config(EncoderConfig pretrained, const Grid& grid,
                                   std::int64_t classes) {
  VitConfig& vit = pretrained.vit;
  vit.grid = grid;
  vit.embedding_norm = vit.final_norm = false;
  vit.dropout = vit.attention_dropout = 0;  // fine-tuning regularises by stochastic depth instead
  return {pretrained, classes};
}

Classifier::Classifier(const ClassifierConfig& config) : config_(config) {
  encoder_ = register_module("encoder", make_encoder(config.encoder));
  fc_norm_ = register_module("fc_norm", std::make_shared<LayerNorm>(encoder_->width()));
  head_ = register_module("head", std::make_shared<Linear>(encoder_->width(), config.classes));
}

Tensor Classifier::forward(const Tensor& pixels, Noise* noise) {
  const Tensor features = encoder_->features(pixels, noise);  // [B, 1 + L, D]
  return head_->forward(fc_norm_->forward(features.slice(1, 1).mean(1)));
}

std::vector<ParamGroup> classifier_groups(const Classifier& classifier, double layer_decay,
                                          double weight_decay) {
  const EncoderConfig& encoder = classifier.config().encoder;
  if (encoder.kind != EncoderKind::kVit) return decay_groups(classifier, weight_decay);
  return layer_decay_groups(classifier, encoder.vit.depth, layer_decay, weight_decay,
                            file_names(encoder.kind));
}

std::shared_ptr<Classifier> load_classifier(const std::filesystem::path& path, std::int64_t heads) {
  const ModelFile file = open_model(path);
  require_kind(file, {"classifier"});
  ClassifierConfig config = file.foreign()
                                ? config_from(file.tensors, file.source)
                                : parse_config<ClassifierConfig>(file.config, file.source);
  if (heads > 0) config.encoder.vit.heads = heads;
  auto classifier = std::make_shared<Classifier>(config);
  load_strictly(*classifier, file.tensors,
                {.source = file.source, .file_name = file_names(config.encoder.kind)});
  classifier->eval();
  return classifier;
}

void save_classifier(const std::filesystem::path& path, const Classifier& classifier,
                     const std::string& provenance) {
  const auto names = file_names(classifier.config().encoder.kind);
  save_model(
      path,
      {.kind = "classifier", .tensors = state_of(classifier, names), .config = classifier.config()},
      provenance);
}

EncoderConfig pretrained_encoder_config(const ModelFile& file) {
  require_kind(file, {"addp", "classifier"});
  if (!file.foreign()) {
    return parse_config<EncoderConfig>(file.config.value("encoder", nlohmann::json::object()),
                                       file.source);
  }
  EncoderConfig config;
  config.vit = vit_config_from(file.tensors, file.source);
  return config;
}

LoadReport load_pretrained_encoder(ImageEncoder& encoder, const EncoderConfig& config,
                                   const ModelFile& file) {
  const auto names = file_names(config.kind);
  const auto file_name = [&](const std::string& name) { return names("encoder." + name); };
  TensorMap own;
  for (const auto& item : state_of(encoder, file_name)) {
    const auto found = file.tensors.find(item.first);
    if (found != file.tensors.end()) own.insert(*found);
  }
  const EncoderConfig before = pretrained_encoder_config(file);
  if (config.kind == EncoderKind::kVit && own.contains(kPositions)) {
    own[kPositions] =
        to_view(resize_positions(to_torch(own[kPositions]), before.vit.grid, config.vit.grid));
  }
  return load_strictly(encoder, own, {.source = file.source, .file_name = file_name});
}

}  // namespace addp
