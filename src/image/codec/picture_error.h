// The sentence for a picture that cannot be used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "image/codec/codec.h"

namespace addp {

[[noreturn]] inline void fail_picture(const std::string& name, std::string_view kind,
                                      std::string_view problem) {
  throw DataError("{}: this {} picture cannot be read ({}); replace the file or remove it", name,
                  kind, problem);
}

// To be called with the header's numbers before anything of that size is allocated.
inline void check_picture_size(const std::string& name, std::int64_t width, std::int64_t height,
                               const DecodeLimits& limits) {
  if (width < 1 || height < 1) {
    throw DataError("{}: the picture claims a size of {}x{}; replace the file or remove it", name,
                    width, height);
  }
  if (width > limits.max_side || height > limits.max_side || width * height > limits.max_pixels) {
    throw DataError(
        "{}: the picture of {}x{} is larger than the limit of {} pixels and {} a side; make it "
        "smaller first",
        name, width, height, limits.max_pixels, limits.max_side);
  }
}

}  // namespace addp
