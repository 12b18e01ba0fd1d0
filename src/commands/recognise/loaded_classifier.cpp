#include "commands/recognise/loaded_classifier.h"

#include "heads/classify/classifier_file.h"
#include "machine/machine.h"
#include "nn/layer/pixels.h"
#include "nn/torch.h"

namespace addp {

namespace {

std::shared_ptr<Classifier> load_here(const std::filesystem::path& model,
                                      const MachineOptions& machine) {
  use_machine(machine.compute);
  return load_classifier(model);
}

}  // namespace

LoadedClassifier::LoadedClassifier(const std::filesystem::path& model,
                                   const std::filesystem::path& classes,
                                   const MachineOptions& machine)
    : network_(load_here(model, machine)), machine_(machine) {
  const ClassifierConfig& config = network_->config();
  classes_ = {config.classes, config.class_names, config.class_keys};
  if (!classes.empty()) read_class_file(classes_, classes);
}

Tensor LoadedClassifier::logits(const Tensor& pixels) const {
  torch::NoGradGuard guard;
  return network_->forward(normalise_pixels(pixels)).to(torch::kFloat32);
}

TensorPass LoadedClassifier::pass(const std::string& label, std::int64_t limit) const {
  return {.pictures = {.limit = limit,
                       .order = PassOrder::kShuffled,
                       .batch = machine_.batch,
                       .threads = machine_.workers,
                       .label = label},
          .size = network_->config().picture_size(),
          .crop = network_->config().crop};
}

Tensor model_labels(const Tensor& labels, const std::vector<std::int64_t>& matched) {
  return torch::tensor(matched).to(labels.device()).index_select(0, labels);
}

}  // namespace addp
