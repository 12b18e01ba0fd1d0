#include "image/color_ops.h"

#include <algorithm>
#include <array>
#include <cstdint>

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
std::uint8_t blend(int from, int to, float factor) {
  const float value = float(from) + factor * float(to - from);
  return static_cast<std::uint8_t>(std::clamp(value, 0.0f, 255.0f));
}

Table blend_table(int from, float factor) {
  return make_table([&](int i) { return blend(from, i, factor); });
}

// Pillow's SMOOTH: a 3x3 mean with weight 5 in the middle; the border stays as it is.
std::uint8_t smoothed(const Image& image, int x, int y, int channel) {
  constexpr float kSide = 1.0f / 13, kMiddle = 5.0f / 13;
  float sum = 0.5f;
  for (const int row : {y + 1, y, y - 1}) {
    const std::uint8_t* at = image.at(x, row) + channel;
    sum +=
        float(at[-3]) * kSide + float(at[0]) * (row == y ? kMiddle : kSide) + float(at[3]) * kSide;
  }
  return static_cast<std::uint8_t>(std::clamp(sum, 0.0f, 255.0f));
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
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
    const int gray = luma(image.pixels.data() + i);
    for (std::size_t c = 0; c < 3; ++c)
      out.pixels[i + c] = blend(gray, image.pixels[i + c], factor);
  }
  return out;
}

Image adjust_contrast(const Image& image, float factor) {
  if (image.empty()) return image;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) sum += luma(image.pixels.data() + i);
  const double mean = double(sum) / double(image.pixels.size() / 3);
  return apply_table(image, blend_table(static_cast<int>(mean + 0.5), factor));
}

Image adjust_brightness(const Image& image, float factor) {
  return apply_table(image, blend_table(0, factor));
}

Image adjust_sharpness(const Image& image, float factor) {
  Image out = image;  // the border's blend with itself
  for (int y = 1; y + 1 < image.height; ++y) {
    for (int x = 1; x + 1 < image.width; ++x) {
      for (int c = 0; c < 3; ++c) {
        out.at(x, y)[c] = blend(smoothed(image, x, y, c), image.at(x, y)[c], factor);
      }
    }
  }
  return out;
}

}  // namespace addp
