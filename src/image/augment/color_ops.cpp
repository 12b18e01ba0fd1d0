#include "image/augment/color_ops.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "image/vector_loops.h"

namespace addp {
namespace {

using Table = std::array<std::uint8_t, 256>;
using Histogram = std::array<std::int64_t, 256>;

template <class Function>
Table make_table(Function function) {
  Table table;
  for (int i = 0; i < 256; ++i) {
    table[std::size_t(i)] =
        static_cast<std::uint8_t>(std::clamp<std::int64_t>(function(i), 0, 255));
  }
  return table;
}

Image apply_tables(const Image& image, const Table& red, const Table& green, const Table& blue) {
  Image out(image.width, image.height);
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
    out.pixels[i] = red[image.pixels[i]];
    out.pixels[i + 1] = green[image.pixels[i + 1]];
    out.pixels[i + 2] = blue[image.pixels[i + 2]];
  }
  return out;
}

Image apply_table(const Image& image, const Table& table) {
  return apply_tables(image, table, table, table);
}

std::array<Histogram, 3> histograms(const Image& image) {
  std::array<Histogram, 3> counts{};
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
    for (std::size_t c = 0; c < 3; ++c) ++counts[c][image.pixels[i + c]];
  }
  return counts;
}

template <class TableOf>
Image apply_by_histogram(const Image& image, TableOf table_of) {
  const std::array<Histogram, 3> counts = histograms(image);
  return apply_tables(image, table_of(counts[0]), table_of(counts[1]), table_of(counts[2]));
}

Table stretch_table(const Histogram& counts) {
  int low = 0, high = 255;
  while (low < 255 && counts[std::size_t(low)] == 0) ++low;
  while (high > 0 && counts[std::size_t(high)] == 0) --high;
  if (high <= low) return make_table([](int i) { return i; });
  const double scale = 255.0 / (high - low);
  const double offset = -low * scale;
  return make_table([&](int i) { return static_cast<std::int64_t>(i * scale + offset); });
}

Table equalize_table(const Histogram& counts) {
  std::int64_t total = 0, last = 0;
  for (const std::int64_t count : counts) {
    total += count;
    if (count != 0) last = count;
  }
  const std::int64_t step = (total - last) / 255;
  if (step == 0) return make_table([](int i) { return i; });
  std::int64_t sum = step / 2;
  return make_table([&](int i) {
    const std::int64_t value = sum / step;
    sum += counts[std::size_t(i)];
    return value;
  });
}

// ITU-R 601-2 luma in 16-bit fixed point.
int luma(const std::uint8_t* rgb) {
  return (rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16;
}

// from + factor (to - from) in single precision, truncated.
inline std::uint8_t blend(int from, int to, float factor) {
  float value = float(from) + factor * float(to - from);
  value = value > 0.0f ? value : 0.0f;
  value = value < 255.0f ? value : 255.0f;
  return static_cast<std::uint8_t>(static_cast<int>(value));
}

ADDP_VECTOR_LOOPS void blend_row(const std::uint8_t* from, const std::uint8_t* to, float factor,
                                 std::uint8_t* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = blend(from[i], to[i], factor);
}

Table blend_table(int from, float factor) {
  return make_table([&](int i) { return blend(from, i, factor); });
}

// Pillow's SMOOTH: a 3x3 mean with weight 5 in the middle, rounded to the nearest. There is never a
// tie, 13 being odd, so whole numbers give what Pillow's floating point does.
ADDP_VECTOR_LOOPS void smooth_row(const std::uint8_t* above, const std::uint8_t* row,
                                  const std::uint8_t* below, std::uint8_t* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const int sides = above[i] + above[i + 3] + above[i + 6] + row[i] + row[i + 6] + below[i] +
                      below[i + 3] + below[i + 6];
    const auto sum = static_cast<std::uint16_t>(sides + 5 * row[i + 3] + 6);
    out[i] = static_cast<std::uint8_t>(sum / 13);
  }
}

}  // namespace

Image autocontrast(const Image& image) { return apply_by_histogram(image, stretch_table); }

Image equalize(const Image& image) { return apply_by_histogram(image, equalize_table); }

Image invert(const Image& image) {
  return apply_table(image, make_table([](int i) { return 255 - i; }));
}

Image posterize(const Image& image, int bits) {
  if (bits >= 8) return image;
  const int mask = ~((1 << (8 - std::max(bits, 0))) - 1);
  return apply_table(image, make_table([&](int i) { return i & mask; }));
}

Image solarize(const Image& image, int threshold) {
  return apply_table(image, make_table([&](int i) { return i < threshold ? i : 255 - i; }));
}

Image solarize_add(const Image& image, int amount, int threshold) {
  return apply_table(image, make_table([&](int i) { return i < threshold ? i + amount : i; }));
}

Image adjust_color(const Image& image, float factor) {
  Image out(image.width, image.height);
  const std::size_t bytes = std::size_t(image.width) * 3;
  std::vector<std::uint8_t> gray(bytes);
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* row = image.row(y);
    for (std::size_t i = 0; i < bytes; i += 3) {
      gray[i] = gray[i + 1] = gray[i + 2] = static_cast<std::uint8_t>(luma(row + i));
    }
    blend_row(gray.data(), row, factor, out.row(y), bytes);
  }
  return out;
}

Image adjust_contrast(const Image& image, float factor) {
  if (image.empty()) return image;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) sum += luma(image.pixels.data() + i);
  const double mean = double(sum) / (double(image.pixels.size()) / 3);
  return apply_table(image, blend_table(static_cast<int>(mean + 0.5), factor));
}

Image adjust_brightness(const Image& image, float factor) {
  return apply_table(image, blend_table(0, factor));
}

Image adjust_sharpness(const Image& image, float factor) {
  Image out = image;  // the border is left out of the smoothing, and so stays
  if (image.width < 3) return out;
  const std::size_t bytes = (std::size_t(image.width) - 2) * 3;
  std::vector<std::uint8_t> smooth(bytes);
  for (int y = 1; y + 1 < image.height; ++y) {
    smooth_row(image.row(y - 1), image.row(y), image.row(y + 1), smooth.data(), bytes);
    blend_row(smooth.data(), image.at(1, y), factor, out.at(1, y), bytes);
  }
  return out;
}

}  // namespace addp
