// The sizes of a VQ tokenizer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/format/tensor.h"

namespace addp {

struct VqganConfig {
  std::int64_t channels = 128;  // at the finest level
  // Of `channels`, one per level, from fine to coarse.
  std::vector<std::int64_t> multipliers = {1, 1, 2, 2, 4};
  std::int64_t blocks = 2;  // residual blocks per level
  std::int64_t codes = 1024;
  std::int64_t code_width = 256;
  // Picture pixels under a cell of the finest level. With 2 the first convolution strides and
  // a pixel shuffle ends the decoder, so that no layer works at full resolution: what two
  // cores can train.
  std::int64_t stem = 1;
  // Features and codes on the unit sphere, the nearest code by cosine (Yu et al. 2021).
  bool unit_codes = false;
  // Where a block changes the channels: false, its output h becomes shortcut(h) + h, as in the
  // published tokenizer; true, shortcut(x) + h, the usual residual.
  bool input_shortcut = false;
  // Groups of the normalisations, 32 in the published tokenizer. A narrow network needs fewer: a
  // group of one channel forgets the channel's mean, and with it colour and brightness.
  std::int64_t groups = 32;
  // Channels of a last residual block at full resolution, whose picture is added to the one that
  // the levels make; 0: none. With a stem of 2 the levels see no single pixel, and fine grain comes
  // out in a pattern of two by two.
  std::int64_t finish = 0;
  // Colours at half the resolution of brightness, as in JPEG and lossy WebP files: coloured grain
  // is something that pictures out of such files do not have.
  bool half_chroma = false;

  // Picture pixels under a token, each way: 16 for the published tokenizer.
  std::int64_t factor() const { return stem << (multipliers.size() - 1); }
  std::int64_t level_channels(std::size_t level) const { return channels * multipliers[level]; }
  bool operator==(const VqganConfig&) const = default;
};

// A UsageError names the field that makes no sense.
void check(const VqganConfig& config);

// The sizes of a foreign checkpoint (names without prefix), from its shapes. `unit_codes` leaves no
// trace in them: it is false. `source` is what errors call the file.
VqganConfig vqgan_config_from(const TensorMap& tensors, const std::string& source);

}  // namespace addp
