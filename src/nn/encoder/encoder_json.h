// The configurations of src/nn as JSON, as model files keep them. Fields that a file does not have
// keep their defaults.
#pragma once

#include <nlohmann/json.hpp>

#include "nn/encoder/encoders.h"
#include "nn/layer/vocabulary.h"

namespace addp {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Grid, height, width)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Vocabulary, codes, class_ids)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(VitConfig, width, depth, heads, mlp_ratio, patch,
                                                grid, embedding_norm, final_norm, dropout,
                                                attention_dropout, drop_path)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ResNetConfig, depths, width, pool, classes,
                                                drop_path)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ResNetEncoderConfig, trunk, stride, width)
NLOHMANN_JSON_SERIALIZE_ENUM(EncoderKind,
                             {{EncoderKind::kVit, "vit"}, {EncoderKind::kResNet, "resnet"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(EncoderConfig, kind, vit, resnet)

}  // namespace addp
