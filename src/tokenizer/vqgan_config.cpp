#include "tokenizer/vqgan_config.h"

#include <bit>

#include "base/error.h"
#include "checkpoint/layout/published.h"

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
  if (config.finish < 0 || config.finish > 4096) {
    throw UsageError("a tokenizer's finish of {} channels: give 0 to 4096", config.finish);
  }
  if (config.half_chroma && config.factor() % 2 != 0) {
    throw UsageError("colours at half resolution need tokens of an even side, not of {} pixels",
                     config.factor());
  }
}

VqganConfig vqgan_config_from(const TensorMap& tensors, const std::string& source) {
  const PublishedTokenizer sizes = published_tokenizer(tensors, source);
  VqganConfig config;
  config.channels = sizes.channels;
  config.multipliers = sizes.multipliers;
  config.blocks = sizes.blocks;
  config.codes = sizes.codes;
  config.code_width = sizes.code_width;
  config.stem = sizes.stem;
  config.input_shortcut = sizes.input_shortcut;
  try {
    check(config);
  } catch (const UsageError& error) {
    throw DataError("{}: {}", source, error.what());
  }
  return config;
}

}  // namespace addp
