#include "stages/generative/transformer_size.h"

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

}  // namespace addp
