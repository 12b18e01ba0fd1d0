// The size that TransformerOptions describe: the preset's, with what was set apart.
#pragma once

#include "feed/token_options.h"
#include "model/presets.h"

namespace addp {

TransformerSize resolve_size(const TransformerOptions& options);

}  // namespace addp
