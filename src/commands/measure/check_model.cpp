#include "commands/measure/check_model.h"

#include "base/error.h"
#include "checkpoint/layout/published.h"
#include "diffusion/addp_file.h"
#include "heads/classify/classifier_file.h"
#include "heads/detect/detector_file.h"
#include "heads/segment/segmenter_file.h"
#include "nn/torch.h"
#include "predictor/mage_file.h"
#include "tokenizer/vqgan_file.h"

namespace addp {

void run(const CheckModelOptions& options, const RunContext&) {
  // A published network comes without its tokenizer, which is named beside it.
  const bool alone =
      options.kind == "addp" && !has_prefix(open_model(options.path).tensors, kTokenizerInside);
  if (alone) return;
  if (options.kind == "tokenizer") load_tokenizer(options.path);
  if (options.kind == "predictor") load_predictor(options.path);
  if (options.kind == "addp") load_addp(options.path);
  if (options.kind == "classifier") load_classifier(options.path);
  if (options.kind == "segmenter") load_segmenter(options.path);
  if (options.kind == "detector") load_detector(options.path);
  const ModelFile file = open_model(options.path);
  if (has_prefix(file.tensors, kTokenizerInside) && !tokenizer_in(file)) {
    throw DataError("{}: holds parts of a tokenizer, but not its codebook; fetch or save it again",
                    file.source);
  }
}

}  // namespace addp
