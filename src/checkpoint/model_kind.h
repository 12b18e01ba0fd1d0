// The kinds of models that this program trains: one table. What has to do something for every kind
// switches over the enum, so that a new kind cannot be forgotten.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace addp {

enum class ModelKind { kAddp, kPredictor, kTokenizer, kClassifier, kDetector, kSegmenter };

struct KindOfModel {
  ModelKind kind;
  std::string_view name;          // in files, and of files in a set of models
  std::string_view title;         // for people
  std::vector<std::string> uses;  // what can be done with it
};

// In the order in which the name of a set stands for its models.
std::span<const KindOfModel> model_kinds();
const KindOfModel& about(ModelKind kind);
// Nothing for kinds of foreign files and for names of no kind.
std::optional<ModelKind> model_kind(std::string_view name);

}  // namespace addp
