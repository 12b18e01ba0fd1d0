// The encoder for maps that the options of a segmenter or a detector ask for.
#pragma once

#include <memory>
#include <optional>

#include "heads/backbone/maps.h"
#include "stages/recognition/maps_options.h"

namespace addp {

// The maps that the options describe, for square pictures of `size`, and its weights if
// --model names any.
struct MapsStart {
  MapsConfig config;
  std::shared_ptr<const Vqgan> tokenizer;  // of a maps that takes tokens
  std::optional<ModelFile> pretrained{};
};
MapsStart start_maps(const MapsOptions& options, std::int64_t size);

}  // namespace addp
