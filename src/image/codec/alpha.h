// Transparency is composed over white.
#pragma once

#include <cstddef>
#include <cstdint>

namespace addp {

inline void compose_over_white(const std::uint8_t* rgba, std::uint8_t* rgb, std::size_t pixels) {
  for (std::size_t i = 0; i < pixels; ++i, rgba += 4, rgb += 3) {
    const int alpha = rgba[3];
    for (int c = 0; c < 3; ++c) {
      const int weighted = rgba[c] * alpha + 255 * (255 - alpha);
      rgb[c] = static_cast<std::uint8_t>((weighted + 127) / 255);
    }
  }
}

}  // namespace addp
