#include "image/resize/affine.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "image/vector_loops.h"

// Vectors are passed between inlined functions only, so that how they are passed does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace addp {
namespace {

#define ADDP_INLINE inline __attribute__((always_inline))

// R, G, B and an unused number, worked on at once.
typedef double Vec4 __attribute__((vector_size(32)));
typedef std::int32_t Int4 __attribute__((vector_size(16)));

// Every pixel is converted once, not once for each of the sixteen that it takes part in.
struct Source {
  int width, height;
  std::vector<double> values;  // [height, width, 4]

  explicit Source(const Image& image)
      : width(image.width), height(image.height), values(image.pixels.size() / 3 * 4) {
    const std::uint8_t* rgb = image.pixels.data();
    for (std::size_t i = 0; i < values.size(); i += 4, rgb += 3) {
      for (std::size_t c = 0; c < 3; ++c) values[i + c] = rgb[c];
    }
  }
  ADDP_INLINE const double* row(int y) const {
    return values.data() + std::size_t(y) * std::size_t(width) * 4;
  }
};

ADDP_INLINE Vec4 load(const double* row, int x) {
  Vec4 value;
  std::memcpy(&value, row + std::size_t(x) * 4, sizeof value);
  return value;
}

// Clipped and truncated, as Pillow does.
ADDP_INLINE void store(const Vec4& value, std::uint8_t* out) {
  const Vec4 low{0, 0, 0, 0}, high{255, 255, 255, 255};
  const Vec4 upper = value < high ? value : high;
  const Int4 whole = __builtin_convertvector(upper > low ? upper : low, Int4);
  for (int c = 0; c < 3; ++c) out[c] = static_cast<std::uint8_t>(whole[c]);
}

// The cubic through v1 and v2 whose slopes there are central differences.
ADDP_INLINE Vec4 cubic(const Vec4& v0, const Vec4& v1, const Vec4& v2, const Vec4& v3, double t) {
  const Vec4 p2 = v2 - v0;
  const Vec4 p3 = 2 * (v0 - v1) + v2 - v3;
  const Vec4 p4 = -v0 + v1 - v2 + v3;
  return v1 + t * (p2 + t * (p3 + t * p4));
}

ADDP_INLINE int floor_int(double value) {
  const int whole = static_cast<int>(value);
  return whole - (value < whole ? 1 : 0);
}

// Samplers see the input at (x, y), which lies inside it; positions beyond its edge
// repeat the edge.
struct Nearest {
  ADDP_INLINE static void sample(const Source& source, double x, double y, std::uint8_t* out) {
    store(load(source.row(static_cast<int>(y)), static_cast<int>(x)), out);
  }
};

struct Bilinear {
  ADDP_INLINE static void sample(const Source& source, double x, double y, std::uint8_t* out) {
    const int left = floor_int(x - 0.5), top = floor_int(y - 0.5);
    const double dx = x - 0.5 - left, dy = y - 0.5 - top;
    const int x0 = std::max(left, 0), x1 = std::min(left + 1, source.width - 1);
    const double* above = source.row(std::max(top, 0));
    const double* below = source.row(std::min(top + 1, source.height - 1));
    const Vec4 a = load(above, x0), b = load(above, x1);
    const Vec4 c = load(below, x0), d = load(below, x1);
    const Vec4 upper = a + (b - a) * dx, lower = c + (d - c) * dx;
    store(upper + (lower - upper) * dy, out);
  }
};

struct Bicubic {
  ADDP_INLINE static void sample(const Source& source, double x, double y, std::uint8_t* out) {
    const int left = floor_int(x - 0.5), top = floor_int(y - 0.5);
    const double dx = x - 0.5 - left, dy = y - 0.5 - top;
    const int x0 = std::max(left - 1, 0), x1 = std::max(left, 0);
    const int x2 = std::min(left + 1, source.width - 1), x3 = std::min(left + 2, source.width - 1);
    const auto along_x = [&](int y_clamped) __attribute__((always_inline)) {
      const double* row = source.row(y_clamped);
      return cubic(load(row, x0), load(row, x1), load(row, x2), load(row, x3), dx);
    };
    const Vec4 v0 = along_x(std::max(top - 1, 0)), v1 = along_x(std::max(top, 0));
    const Vec4 v2 = along_x(std::min(top + 1, source.height - 1));
    const Vec4 v3 = along_x(std::min(top + 2, source.height - 1));
    store(cubic(v0, v1, v2, v3, dy), out);
  }
};

template <class Sampler>
ADDP_INLINE void transform_pixels(const Source& source, const AffineMap& map, Color fill,
                                  Image& out) {
  for (int y = 0; y < out.height; ++y) {
    std::uint8_t* pixel = out.row(y);
    for (int x = 0; x < out.width; ++x, pixel += 3) {
      const double from_x = map.a * (x + 0.5) + map.b * (y + 0.5) + map.c;
      const double from_y = map.d * (x + 0.5) + map.e * (y + 0.5) + map.f;
      if (from_x >= 0 && from_x < source.width && from_y >= 0 && from_y < source.height) {
        Sampler::sample(source, from_x, from_y, pixel);
      } else {
        std::memcpy(pixel, fill.data(), 3);
      }
    }
  }
}

template <class Sampler>
ADDP_AVX2 void transform_avx2(const Source& source, const AffineMap& map, Color fill, Image& out) {
  transform_pixels<Sampler>(source, map, fill, out);
}

template <class Sampler>
Image transform(const Image& image, const AffineMap& map, Color fill) {
  const Source source(image);
  Image out(image.width, image.height);
  if (has_avx2()) {
    transform_avx2<Sampler>(source, map, fill, out);
  } else {
    transform_pixels<Sampler>(source, map, fill, out);
  }
  return out;
}

}  // namespace

Image transform_affine(const Image& image, const AffineMap& map, Resample filter, Color fill) {
  switch (filter) {
    case Resample::kBicubic:
      return transform<Bicubic>(image, map, fill);
    case Resample::kBilinear:
      return transform<Bilinear>(image, map, fill);
    default:
      return transform<Nearest>(image, map, fill);
  }
}

Image rotate(const Image& image, double degrees, Resample filter, Color fill) {
  const double angle = -degrees * std::numbers::pi / 180;
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const double x = image.width / 2.0, y = image.height / 2.0;
  // The middle stays where it is.
  const AffineMap map{cosine, sine,   x - cosine * x - sine * y,
                      -sine,  cosine, y + sine * x - cosine * y};
  return transform_affine(image, map, filter, fill);
}

}  // namespace addp
