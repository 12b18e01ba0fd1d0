#include "heads/classify/classifier_file.h"

#include "base/error.h"
#include "checkpoint/layout/published.h"
#include "heads/backbone/backbone_json.h"
#include "machine/machine.h"
#include "model/model_file.h"
#include "nn/torch.h"
#include "tokenizer/vqgan_file.h"

namespace addp {

NLOHMANN_JSON_SERIALIZE_ENUM(ClassifierHead, {{ClassifierHead::kFineTuned, "fine-tuned"},
                                              {ClassifierHead::kProbe, "probe"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ClassifierConfig, backbone, head, classes,
                                                class_names, class_keys, size, crop, class_position)

namespace {

ClassifierConfig classifier_config_from(const TensorMap& tensors, const std::string& source) {
  ClassifierConfig config;
  config.backbone.encoder.vit = vit_config_from(tensors, source);
  config.classes = published_transformer(tensors, source).classes;
  if (config.classes == 0)
    throw DataError("{} has no linear layer 'head': it is no classifier", source);
  return config;
}

}  // namespace

std::shared_ptr<Classifier> load_classifier(const std::filesystem::path& path, std::int64_t heads) {
  const ModelFile file = open_model(path, {"classifier"});
  require_kind(file, {"classifier"});
  ClassifierConfig config = file.foreign()
                                ? classifier_config_from(file.tensors, file.source)
                                : parse_config<ClassifierConfig>(file.config, file.source);
  if (heads > 0) config.backbone.encoder.vit.heads = heads;
  const bool tokens = config.backbone.input == BackboneInput::kTokens;
  auto classifier = from_file(file.source, [&] {
    return on_device(std::make_shared<Classifier>(config, tokens ? tokenizer_in(file) : nullptr));
  });
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
