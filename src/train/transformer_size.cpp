#include "train/transformer_size.h"

namespace addp {

TransformerSize resolve_size(const TransformerOptions& options) {
  TransformerSize size = transformer_size(options.preset);
  const auto take = [](std::int64_t& field, std::int64_t chosen) {
    if (chosen > 0) field = chosen;
  };
  take(size.width, options.width);
  take(size.depth, options.depth);
  take(size.heads, options.heads);
  take(size.decoder_width, options.decoder_width);
  take(size.decoder_depth, options.decoder_depth);
  take(size.decoder_heads, options.decoder_heads);
  return size;
}

double block_activation_bytes(std::int64_t width, std::int64_t depth, double tokens) {
  // Two norms, qkv, attention, projection, the MLP's two layers of four widths, dropout masks.
  constexpr double kFloatsPerWidth = 20;
  return 4 * kFloatsPerWidth * static_cast<double>(width * depth) * tokens;
}

}  // namespace addp
