// Any bytes as a label map: a DataError, or as many labels as the size says, which a PNG keeps.
#include <cstdint>

#include "base/error.h"
#include "image/codec/codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace addp;
  DecodeLimits limits;
  limits.max_pixels = 1 << 20;  // time is for more inputs, not for large ones
  try {
    const GrayImage labels = decode_labels({data, size}, "fuzz", limits);
    const auto area =
        static_cast<std::size_t>(labels.width) * static_cast<std::size_t>(labels.height);
    if (labels.pixels.size() != area) __builtin_trap();
    const Bytes png = encode_png(labels);
    if (decode_labels(png, "again").pixels != labels.pixels) __builtin_trap();
  } catch (const DataError&) {
  }
  return 0;
}
