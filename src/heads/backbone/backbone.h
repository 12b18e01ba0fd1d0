// What a head stands on: an image encoder out of a pre-trained file or from scratch, fed with
// pixels (ADDP, ViT, ResNet-50) or with a tokenizer's tokens (MAGE).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "heads/backbone/token_encoder.h"
#include "model/load.h"
#include "model/model_file.h"
#include "nn/encoder/encoders.h"

namespace addp {

enum class BackboneInput { kPixels, kTokens };

struct BackboneConfig {
  BackboneInput input = BackboneInput::kPixels;
  EncoderConfig encoder{};      // read for kPixels
  TokenEncoderConfig tokens{};  // read for kTokens

  std::int64_t width() const;
  std::int64_t depth() const;  // blocks of a transformer; 0 for a ResNet
  std::int64_t heads() const;  // of a transformer
  Grid grid() const;           // of a transformer's position embeddings
  bool is_transformer() const { return depth() > 0; }
};

// From scratch: a row of model/presets.h's tables.
BackboneConfig backbone_preset(std::string_view name, const Grid& grid, std::int64_t patch);
BackboneConfig token_backbone_preset(std::string_view name, const Grid& grid,
                                     const Vqgan& tokenizer);
// What is in a file: pixels for ADDP networks, classifiers and plain ViTs, tokens for predictors.
BackboneConfig backbone_config(const ModelFile& file);
// As fine-tuning takes it: for pictures of `grid`, without the outer norms that a head replaces and
// without dropout, which stochastic depth stands in for.
BackboneConfig fine_tuning_backbone(BackboneConfig pretrained, const Grid& grid, double drop_path);

// The tokenizer is needed for kTokens only.
std::shared_ptr<ImageEncoder> make_backbone(const BackboneConfig& config,
                                            std::shared_ptr<const Vqgan> tokenizer = {});
// A network's parameter "encoder.x" as files call it (nn/encoder/encoders.h).
std::function<std::string(const std::string&)> backbone_file_names(const BackboneConfig& config);

// The weights of a pre-trained file into an encoder that may have another grid (position
// embeddings are resized) and lack the outer norms. What else the file holds (decoder, tokenizer,
// head) is not looked at.
LoadReport load_backbone(ImageEncoder& encoder, const BackboneConfig& config,
                         const ModelFile& file);

// The grid of square pictures; a UsageError when `side` is no multiple of `stride`.
Grid grid_of_side(std::int64_t side, std::int64_t stride);

// The mean over the cells [B, D] of encoder features [B, 1 + L, D]: what heads and nearest
// neighbours see of a picture.
Tensor pool_features(const Tensor& features);

}  // namespace addp
