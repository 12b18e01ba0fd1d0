#pragma once

#include "base/run_context.h"
#include "train/tokenizer_options.h"

namespace addp {

void run_train_tokenizer(const TokenizerTrainOptions& options, const RunContext& context);

}  // namespace addp
