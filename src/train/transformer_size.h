// The size that TransformerOptions describe: the preset's, with what was set apart.
#pragma once

#include "nn/presets.h"
#include "train/token_options.h"

namespace addp {

TransformerSize resolve_size(const TransformerOptions& options);

// Bytes that `depth` blocks of `width` keep for the backward pass of `tokens` tokens in float32.
double block_activation_bytes(std::int64_t width, std::int64_t depth, double tokens);

}  // namespace addp
