#include "image/affine.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

namespace addp {
namespace {

std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0));
}

// The cubic through v[1] and v[2] whose slopes there are central differences.
double cubic(double v0, double v1, double v2, double v3, double t) {
  const double p2 = v2 - v0;
  const double p3 = 2 * (v0 - v1) + v2 - v3;
  const double p4 = -v0 + v1 - v2 + v3;
  return v1 + t * (p2 + t * (p3 + t * p4));
}

void sample_nearest(const Image& image, double x, double y, std::uint8_t* out) {
  std::memcpy(out, image.at(static_cast<int>(x), static_cast<int>(y)), 3);
}

void sample_bilinear(const Image& image, double x, double y, std::uint8_t* out) {
  const double left = std::floor(x - 0.5), top = std::floor(y - 0.5);
  const double dx = x - 0.5 - left, dy = y - 0.5 - top;
  const int x0 = std::clamp(int(left), 0, image.width - 1);
  const int x1 = std::clamp(int(left) + 1, 0, image.width - 1);
  const int y0 = std::clamp(int(top), 0, image.height - 1);
  const int y1 = std::clamp(int(top) + 1, 0, image.height - 1);
  for (int c = 0; c < 3; ++c) {
    const auto along_x = [&](int row) {
      const double a = image.at(x0, row)[c], b = image.at(x1, row)[c];
      return a + (b - a) * dx;
    };
    const double upper = along_x(y0), lower = along_x(y1);
    out[c] = to_byte(upper + (lower - upper) * dy);
  }
}

void sample_bicubic(const Image& image, double x, double y, std::uint8_t* out) {
  const double left = std::floor(x - 0.5), top = std::floor(y - 0.5);
  const double dx = x - 0.5 - left, dy = y - 0.5 - top;
  const std::uint8_t* rows[4];
  std::size_t columns[4];
  for (int i = 0; i < 4; ++i) {
    rows[i] = image.row(std::clamp(int(top) - 1 + i, 0, image.height - 1));
    columns[i] = std::size_t(std::clamp(int(left) - 1 + i, 0, image.width - 1)) * 3;
  }
  for (std::size_t c = 0; c < 3; ++c) {
    double value[4];
    for (int i = 0; i < 4; ++i) {
      const std::uint8_t* row = rows[i] + c;
      value[i] = cubic(row[columns[0]], row[columns[1]], row[columns[2]], row[columns[3]], dx);
    }
    out[c] = to_byte(cubic(value[0], value[1], value[2], value[3], dy));
  }
}

template <void (*Sample)(const Image&, double, double, std::uint8_t*)>
Image transform(const Image& image, const AffineMap& map, Color fill) {
  Image out(image.width, image.height);
  for (int y = 0; y < out.height; ++y) {
    std::uint8_t* pixel = out.row(y);
    for (int x = 0; x < out.width; ++x, pixel += 3) {
      const double from_x = map.a * (x + 0.5) + map.b * (y + 0.5) + map.c;
      const double from_y = map.d * (x + 0.5) + map.e * (y + 0.5) + map.f;
      if (from_x >= 0 && from_x < image.width && from_y >= 0 && from_y < image.height) {
        Sample(image, from_x, from_y, pixel);
      } else {
        std::memcpy(pixel, fill.data(), 3);
      }
    }
  }
  return out;
}

}  // namespace

Image transform_affine(const Image& image, const AffineMap& map, Resample filter, Color fill) {
  switch (filter) {
    case Resample::kBicubic:
      return transform<sample_bicubic>(image, map, fill);
    case Resample::kBilinear:
      return transform<sample_bilinear>(image, map, fill);
    default:
      return transform<sample_nearest>(image, map, fill);
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
