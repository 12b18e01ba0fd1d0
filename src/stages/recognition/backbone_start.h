// The encoder that the options of a recognition stage ask for: out of a file or from scratch.
#pragma once

#include <optional>

#include "heads/backbone/backbone.h"
#include "stages/recognition/backbone_options.h"

namespace addp {

struct BackboneStart {
  BackboneConfig config;  // as the file has it, or the preset for pictures of `side`
  std::shared_ptr<const Vqgan> tokenizer;  // of an encoder of tokens
  std::optional<ModelFile> file;           // nothing: from scratch
  Grid grid;                               // of pictures of `side`
};

BackboneStart start_backbone(const BackboneOptions& options, std::int64_t side);

// Bytes that a step keeps of `pictures` pictures for the backward pass, roughly.
double backbone_activation_bytes(const BackboneConfig& config, const Grid& grid, double pictures);

}  // namespace addp
