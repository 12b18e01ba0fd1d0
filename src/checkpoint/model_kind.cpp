#include "checkpoint/model_kind.h"

#include <algorithm>
#include <array>

namespace addp {

std::span<const KindOfModel> model_kinds() {
  static const std::array<KindOfModel, 6> kKinds = {{
      {ModelKind::kAddp,
       "addp",
       "ADDP network",
       {"generate and repair pictures (with a predictor and a tokenizer)",
        "fine-tune a classifier, detector or segmenter", "extract features"}},
      {ModelKind::kPredictor,
       "predictor",
       "MAGE token predictor",
       {"predict tokens while ADDP is trained", "generate pictures with MAGE itself"}},
      {ModelKind::kTokenizer,
       "tokenizer",
       "VQGAN tokenizer",
       {"turn pictures into tokens and back", "train a predictor and ADDP"}},
      {ModelKind::kClassifier,
       "classifier",
       "classifier",
       {"classify pictures", "measure accuracy and robustness", "extract features"}},
      {ModelKind::kDetector,
       "detector",
       "detector of objects with their masks",
       {"detect objects", "measure average precision"}},
      {ModelKind::kSegmenter,
       "segmenter",
       "segmenter",
       {"label every pixel of a picture", "measure the mean IoU"}},
  }};
  return kKinds;
}

const KindOfModel& about(ModelKind kind) {
  return *std::ranges::find(model_kinds(), kind, &KindOfModel::kind);
}

std::optional<ModelKind> model_kind(std::string_view name) {
  const auto found = std::ranges::find(model_kinds(), name, &KindOfModel::name);
  if (found == model_kinds().end()) return std::nullopt;
  return found->kind;
}

}  // namespace addp
