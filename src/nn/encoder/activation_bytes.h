// How much memory networks need for the backward pass, in float32: what the estimate before a long
// run adds up.
#pragma once

#include "nn/encoder/encoders.h"

namespace addp {

// What `depth` blocks of `width` keep of `tokens` tokens.
double block_activation_bytes(std::int64_t width, std::int64_t depth, double tokens);

// What an encoder keeps of so many pixels, the batch's all together.
double encoder_activation_bytes(const EncoderConfig& config, double pixels);

}  // namespace addp
