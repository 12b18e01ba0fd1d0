// Moving pictures, for the trajectories of generation.
#pragma once

#include <span>

#include "image/codec/codec.h"

namespace addp {

struct AnimationOptions {
  int frame_ms = 100;  // how long a frame is shown
  int last_ms = 0;     // how long the last one is shown; 0: like the others
  float quality = 90;  // 100 is lossless
  int loops = 0;       // 0: for ever
};

// All frames have the size of the first; a UsageError says so otherwise.
Bytes encode_webp_animation(std::span<const Image> frames, const AnimationOptions& options = {});

}  // namespace addp
