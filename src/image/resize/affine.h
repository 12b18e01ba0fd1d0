// Affine geometry with Pillow's sampling: what falls outside becomes the fill colour.
#pragma once

#include <array>
#include <cstdint>

#include "image/image.h"
#include "image/resize/resize.h"

namespace addp {

using Color = std::array<std::uint8_t, 3>;

// Output pixel (x, y) shows the input at (a (x + 1/2) + b (y + 1/2) + c, d (x + 1/2) + e (y +
// 1/2) + f).
struct AffineMap {
  double a = 1, b = 0, c = 0;
  double d = 0, e = 1, f = 0;
};

// Nearest, bilinear or bicubic, without antialiasing; the size stays.
Image transform_affine(const Image& image, const AffineMap& map, Resample filter, Color fill);

// Counter-clockwise about the middle.
Image rotate(const Image& image, double degrees, Resample filter, Color fill);

}  // namespace addp
