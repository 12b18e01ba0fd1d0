// A 5x7 bitmap font for printable ASCII.
#pragma once

#include <array>
#include <cstdint>

namespace addp {

inline constexpr int kGlyphWidth = 5;
inline constexpr int kGlyphHeight = 7;

// Rows from the top; bit 4 is the leftmost pixel.
using Glyph = std::array<std::uint8_t, kGlyphHeight>;

const Glyph& font_glyph(char c);

}  // namespace addp
