#include "image/augment/augment.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace addp {
namespace {

constexpr int kTries = 10;

// Python's round(): halves go to the even number.
int python_round(double value) { return static_cast<int>(std::nearbyint(value)); }

void check_planes(std::size_t have, int width, int height) {
  const std::size_t need = std::size_t(width) * std::size_t(height) * 3;
  if (have != need) {
    throw UsageError("a {}x{} picture has {} values, not {}", width, height, need, have);
  }
}

void to_chw_through(const Image& image, std::span<float> out,
                    const std::array<std::array<float, 256>, 3>& table) {
  check_planes(out.size(), image.width, image.height);
  const std::size_t plane = out.size() / 3;
  float* red = out.data();
  float* green = red + plane;
  float* blue = green + plane;
  const std::uint8_t* pixel = image.pixels.data();
  for (std::size_t i = 0; i < plane; ++i, pixel += 3) {
    red[i] = table[0][pixel[0]];
    green[i] = table[1][pixel[1]];
    blue[i] = table[2][pixel[2]];
  }
}

std::array<float, 256> make_table(float mean, float deviation) {
  std::array<float, 256> table;
  for (std::size_t i = 0; i < 256; ++i) table[i] = (float(i) / 255.0f - mean) / deviation;
  return table;
}

}  // namespace

PixelBox random_resized_crop(int width, int height, const RandomCropOptions& options,
                             RandomStream& random) {
  const double area = double(width) * double(height);
  const double low = std::log(options.min_aspect), high = std::log(options.max_aspect);
  for (int i = 0; i < kTries; ++i) {
    const double target = area * random.uniform(options.min_area, options.max_area);
    const double aspect = std::exp(random.uniform(low, high));
    const int w = python_round(std::sqrt(target * aspect));
    const int h = python_round(std::sqrt(target / aspect));
    if (w < 1 || w > width || h < 1 || h > height) continue;
    const int top = static_cast<int>(random.integer(0, height - h));
    const int left = static_cast<int>(random.integer(0, width - w));
    return {left, top, w, h};
  }
  const double ratio = double(width) / double(height);
  int w = width, h = height;
  if (ratio < options.min_aspect) h = std::clamp(python_round(w / options.min_aspect), 1, height);
  if (ratio > options.max_aspect) w = std::clamp(python_round(h * options.max_aspect), 1, width);
  return {(width - w) / 2, (height - h) / 2, w, h};
}

void to_chw(const Image& image, std::span<float> out, const Normalisation& normalisation) {
  std::array<std::array<float, 256>, 3> table;
  for (std::size_t c = 0; c < 3; ++c) {
    table[c] = make_table(normalisation.mean[c], normalisation.deviation[c]);
  }
  to_chw_through(image, out, table);
}

void to_chw(const Image& image, std::span<float> out) {
  static const std::array<float, 256> unit = make_table(0, 1);
  static const std::array<std::array<float, 256>, 3> table{unit, unit, unit};
  to_chw_through(image, out, table);
}

PixelBox random_erasing(std::span<float> chw, int width, int height,
                        const RandomErasingOptions& options, RandomStream& random) {
  check_planes(chw.size(), width, height);
  if (!random.chance(options.probability)) return {};
  const double area = double(width) * double(height);
  const double high = -std::log(options.min_aspect);
  for (int i = 0; i < kTries; ++i) {
    const double target = area * random.uniform(options.min_area, options.max_area);
    const double aspect = std::exp(random.uniform(-high, high));
    const int h = python_round(std::sqrt(target * aspect));
    const int w = python_round(std::sqrt(target / aspect));
    if (h >= height || w >= width || h < 1 || w < 1) continue;
    const int top = static_cast<int>(random.integer(0, height - h));
    const int left = static_cast<int>(random.integer(0, width - w));
    const std::size_t plane = chw.size() / 3;
    for (std::size_t c = 0; c < 3; ++c) {
      for (int y = top; y < top + h; ++y) {
        const std::size_t start =
            c * plane + std::size_t(y) * std::size_t(width) + std::size_t(left);
        random.fill_normal(chw.subspan(start, std::size_t(w)));
      }
    }
    return {left, top, w, h};
  }
  return {};
}

}  // namespace addp
