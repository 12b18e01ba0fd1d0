// The size that TransformerOptions describe: the preset's, with what was set apart.
#pragma once

#include "nn/presets.h"
#include "train/token_options.h"

namespace addp {

TransformerSize resolve_size(const TransformerOptions& options);

}  // namespace addp
