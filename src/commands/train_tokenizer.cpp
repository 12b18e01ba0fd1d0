#include "commands/train_tokenizer.h"

#include "train/run_training.h"
#include "train/tokenizer_stage.h"

namespace addp {

void run_train_tokenizer(const TokenizerTrainOptions& options, const RunContext& context) {
  run_training(options.train, context,
               [&](World& world) { return std::make_unique<TokenizerStage>(options, world); });
}

}  // namespace addp
