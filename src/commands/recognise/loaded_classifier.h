// A trained classifier with its classes, ready to be shown pictures.
#pragma once

#include "commands/recognise/machine_options.h"
#include "eval/recognition/class_match.h"
#include "eval/recognition/picture_tensors.h"
#include "heads/classify/classifier.h"

namespace addp {

class LoadedClassifier {
 public:
  // `classes` may be empty: a file that names the classes of a model that does not.
  LoadedClassifier(const std::filesystem::path& model, const std::filesystem::path& classes,
                   const MachineOptions& machine);

  const ModelClasses& classes() const { return classes_; }
  // Logits [B, classes] of pictures in [0, 1].
  Tensor logits(const Tensor& pixels) const;
  // How its pictures are cut and batched; `limit` of them, 0: all.
  TensorPass pass(const std::string& label, std::int64_t limit = 0) const;

 private:
  std::shared_ptr<Classifier> network_;
  ModelClasses classes_;
  MachineOptions machine_;
};

// A set's labels as the model's classes; `matched` is match_classes()'s answer.
Tensor model_labels(const Tensor& labels, const std::vector<std::int64_t>& matched);

}  // namespace addp
