// The configurations of backbones as JSON, as model files keep them.
#pragma once

#include "heads/backbone/backbone.h"
#include "nn/encoder/encoder_json.h"

namespace addp {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(TokenEncoderConfig, vocabulary, grid, width, depth,
                                                heads, mlp_ratio, final_norm, dropout,
                                                attention_dropout, drop_path)
NLOHMANN_JSON_SERIALIZE_ENUM(BackboneInput, {{BackboneInput::kPixels, "pixels"},
                                             {BackboneInput::kTokens, "tokens"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(BackboneConfig, input, encoder, tokens)

}  // namespace addp
