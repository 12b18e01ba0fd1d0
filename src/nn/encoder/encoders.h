// The image encoders by configuration, and their place in checkpoint files.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "checkpoint/format/tensor.h"
#include "nn/encoder/image_encoder.h"
#include "nn/encoder/resnet.h"
#include "nn/encoder/vit.h"

namespace addp {

enum class EncoderKind { kVit, kResNet };

struct EncoderConfig {
  EncoderKind kind = EncoderKind::kVit;
  VitConfig vit;               // read for kVit
  ResNetEncoderConfig resnet;  // read for kResNet

  std::int64_t width() const { return kind == EncoderKind::kVit ? vit.width : resnet.width; }
  std::int64_t stride() const { return kind == EncoderKind::kVit ? vit.patch : resnet.stride; }
};

std::shared_ptr<ImageEncoder> make_encoder(const EncoderConfig& config);

// A row of model/presets.h's tables.
EncoderConfig encoder_preset(std::string_view name, const Grid& grid, std::int64_t stride);

// Networks keep their encoder under "encoder."; published checkpoints have a ViT's parameters at
// the top level, beside those of the decoder or the head. Gives a parameter's name in files.
std::function<std::string(const std::string&)> file_names(EncoderKind kind);

// The sizes of a published ViT (names at the top level), from its shapes; heads
// as model/presets.h guesses.
VitConfig vit_config_from(const TensorMap& tensors, const std::string& source);

}  // namespace addp
