#include "tokenizer/vqgan_config.h"

#include <bit>

#include "base/error.h"
#include "model/load.h"

namespace addp {

void check(const VqganConfig& config) {
  if (config.channels < 1 || config.blocks < 1 || config.codes < 2 || config.code_width < 1) {
    throw UsageError(
        "a tokenizer of {} channels, {} blocks per level and {} codes of width {}: give positive "
        "sizes and at least 2 codes",
        config.channels, config.blocks, config.codes, config.code_width);
  }
  if (config.multipliers.empty() || config.multipliers.size() > 8) {
    throw UsageError("a tokenizer of {} levels: give 1 to 8 channel multipliers",
                     config.multipliers.size());
  }
  for (const std::int64_t multiplier : config.multipliers) {
    if (multiplier < 1) throw UsageError("a channel multiplier of {}: give at least 1", multiplier);
  }
  if (config.stem < 1 || config.stem > 8 || !std::has_single_bit(std::uint64_t(config.stem))) {
    throw UsageError("a tokenizer stem of {} pixels: give 1, 2, 4 or 8", config.stem);
  }
}

VqganConfig vqgan_config_from(const TensorMap& tensors, const std::string& source) {
  VqganConfig config;
  const auto conv_in = shape_of(tensors, "encoder.conv_in.weight", 4, source);
  const auto conv_out = shape_of(tensors, "decoder.conv_out.weight", 4, source);
  const auto codebook = shape_of(tensors, "quantize.embedding.weight", 2, source);
  config.channels = conv_in[0];
  config.codes = codebook[0];
  config.code_width = codebook[1];
  config.stem = conv_out[0] == 3 ? 1 : conv_out[0] == 12 ? 2 : conv_out[0] == 48 ? 4 : 0;
  config.blocks = count_of(tensors, "encoder.down.0.block");
  config.multipliers.clear();
  const std::int64_t levels = count_of(tensors, "encoder.down");
  for (std::int64_t level = 0; level < levels; ++level) {
    const std::string block = fmt::format("encoder.down.{}.block.0.", level);
    const auto conv1 = shape_of(tensors, block + "conv1.weight", 4, source);
    if (config.channels < 1 || conv1[0] % config.channels != 0) {
      throw DataError("{}: level {} has {} channels, no multiple of the first level's {}", source,
                      level, conv1[0], config.channels);
    }
    config.multipliers.push_back(conv1[0] / config.channels);
    if (tensors.contains(block + "nin_shortcut.weight")) {
      const auto shortcut = shape_of(tensors, block + "nin_shortcut.weight", 4, source);
      config.input_shortcut = shortcut[1] == conv1[1];
    }
  }
  try {
    check(config);
  } catch (const UsageError& error) {
    throw DataError("{}: {}", source, error.what());
  }
  return config;
}

}  // namespace addp
