#include "commands/measure/check_model.h"

#include "base/error.h"
#include "checkpoint/layout/published.h"
#include "checkpoint/model_kind.h"
#include "diffusion/addp_file.h"
#include "heads/classify/classifier_file.h"
#include "heads/detect/detector_file.h"
#include "heads/segment/segmenter_file.h"
#include "nn/torch.h"
#include "predictor/mage_file.h"
#include "tokenizer/vqgan_file.h"

namespace addp {
namespace {

void load(ModelKind kind, const std::filesystem::path& path) {
  switch (kind) {
    case ModelKind::kAddp:
      load_addp(path);
      return;
    case ModelKind::kPredictor:
      load_predictor(path);
      return;
    case ModelKind::kTokenizer:
      load_tokenizer(path);
      return;
    case ModelKind::kClassifier:
      load_classifier(path);
      return;
    case ModelKind::kDetector:
      load_detector(path);
      return;
    case ModelKind::kSegmenter:
      load_segmenter(path);
      return;
  }
}

}  // namespace

void run(const CheckModelOptions& options, const RunContext&) {
  // A published network comes without its tokenizer, which is named beside it.
  const bool alone =
      options.kind == "addp" && !has_prefix(open_model(options.path).tensors, kTokenizerInside);
  if (alone) return;
  if (const auto kind = model_kind(options.kind)) load(*kind, options.path);
  const ModelFile file = open_model(options.path);
  if (has_prefix(file.tensors, kTokenizerInside) && !tokenizer_in(file)) {
    throw DataError("{}: holds parts of a tokenizer, but not its codebook; fetch or save it again",
                    file.source);
  }
}

}  // namespace addp
