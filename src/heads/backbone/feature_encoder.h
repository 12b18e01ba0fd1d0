// The encoder of a trained network, as something that turns pictures into features.
#pragma once

#include <filesystem>

#include "heads/backbone/backbone.h"

namespace addp {

struct FeatureEncoder {
  std::shared_ptr<ImageEncoder> network;
  std::int64_t size = 0;  // side of the pictures it was trained on

  // Pictures [B, 3, S, S] in [0, 1] -> the mean over the encoder's cells, [B, D].
  Tensor of(const Tensor& pixels) const;
};

// `tokenizer` is for an encoder of tokens whose model has none inside; a UsageError where it is
// missing.
FeatureEncoder open_feature_encoder(const std::filesystem::path& model,
                                    const std::filesystem::path& tokenizer = {});

}  // namespace addp
