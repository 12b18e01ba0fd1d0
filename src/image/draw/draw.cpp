#include "image/draw/draw.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "image/draw/font.h"

namespace addp {
namespace {

constexpr int kAdvance = kGlyphWidth + 1;    // with the gap to the next character
constexpr int kLineStep = kGlyphHeight + 2;  // with the gap to the next line

std::uint8_t mix(int from, int to, float share) {
  return static_cast<std::uint8_t>(std::lround(float(from) + share * float(to - from)));
}

// One of the three channels of a hue (in turns) at a saturation and value.
float hsv_channel(float hue, float saturation, float value, float offset) {
  const float k = std::fmod(offset + hue * 6, 6.0f);
  return value - value * saturation * std::clamp(std::min(k, 4 - k), 0.0f, 1.0f);
}

void draw_glyph(Image& image, int left, int top, char c, Color color, int scale) {
  const Glyph& glyph = font_glyph(c);
  for (int y = 0; y < kGlyphHeight; ++y) {
    for (int x = 0; x < kGlyphWidth; ++x) {
      if ((glyph[std::size_t(y)] >> (kGlyphWidth - 1 - x) & 1) == 0) continue;
      fill_rectangle(image, {left + x * scale, top + y * scale, scale, scale}, color);
    }
  }
}

}  // namespace

Color distinct_color(int index) {
  // Steps of the golden ratio spread the hues evenly however many are used.
  const float hue = std::fmod(0.02f + 0.618034f * float(index % 1000), 1.0f);
  const int round = index / 6 % 3;
  const float saturation = round == 1 ? 0.55f : 0.85f;
  const float value = round == 2 ? 0.65f : 0.95f;
  Color color;
  const float offsets[3] = {5, 3, 1};
  for (std::size_t c = 0; c < 3; ++c) {
    color[c] = static_cast<std::uint8_t>(
        std::lround(255 * hsv_channel(hue, saturation, value, offsets[c])));
  }
  return color;
}

Color readable_on(Color background) {
  const int luma = background[0] * 299 + background[1] * 587 + background[2] * 114;
  return luma > 140 * 1000 ? kBlack : kWhite;
}

Image make_canvas(int width, int height, Color color) {
  Image image(width, height);
  fill_rectangle(image, {0, 0, width, height}, color);
  return image;
}

void fill_rectangle(Image& image, const PixelBox& box, Color color) {
  const int left = std::max(box.left, 0), right = std::min(box.right(), image.width);
  const int top = std::max(box.top, 0), bottom = std::min(box.bottom(), image.height);
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) std::memcpy(image.at(x, y), color.data(), 3);
  }
}

void draw_rectangle(Image& image, const PixelBox& box, Color color, int thickness) {
  const int t = std::clamp(thickness, 0, std::max(0, std::min(box.width, box.height)));
  fill_rectangle(image, {box.left, box.top, box.width, t}, color);
  fill_rectangle(image, {box.left, box.bottom() - t, box.width, t}, color);
  fill_rectangle(image, {box.left, box.top, t, box.height}, color);
  fill_rectangle(image, {box.right() - t, box.top, t, box.height}, color);
}

void draw_line(Image& image, int x0, int y0, int x1, int y1, Color color, int thickness) {
  const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
  const int before = thickness / 2;
  for (int i = 0; i <= steps; ++i) {
    const double share = double(i) / steps;
    const int x = static_cast<int>(std::lround(x0 + share * (x1 - x0)));
    const int y = static_cast<int>(std::lround(y0 + share * (y1 - y0)));
    fill_rectangle(image, {x - before, y - before, thickness, thickness}, color);
  }
}

void paste(Image& image, const Image& patch, int left, int top) {
  const int from_x = std::max(0, -left), from_y = std::max(0, -top);
  const int columns = std::min(patch.width, image.width - left) - from_x;
  const int end_y = std::min(patch.height, image.height - top);
  if (columns <= 0) return;
  for (int y = from_y; y < end_y; ++y) {
    std::memcpy(image.at(left + from_x, top + y), patch.at(from_x, y), std::size_t(columns) * 3);
  }
}

void blend_mask(Image& image, const GrayImage& mask, Color color, float opacity) {
  if (mask.width != image.width || mask.height != image.height) {
    throw UsageError("a mask of {}x{} does not fit a picture of {}x{}", mask.width, mask.height,
                     image.width, image.height);
  }
  for (std::size_t i = 0; i < mask.pixels.size(); ++i) {
    if (mask.pixels[i] == 0) continue;
    for (std::size_t c = 0; c < 3; ++c) {
      std::uint8_t& value = image.pixels[i * 3 + c];
      value = mix(value, color[c], std::clamp(opacity, 0.0f, 1.0f));
    }
  }
}

TextSize measure_text(std::string_view text, int scale) {
  int columns = 0, longest = 0, lines = 1;
  for (const char c : text) {
    columns = c == '\n' ? 0 : columns + 1;
    lines += c == '\n' ? 1 : 0;
    longest = std::max(longest, columns);
  }
  if (longest == 0) return {0, (lines * kLineStep - (kLineStep - kGlyphHeight)) * scale};
  return {(longest * kAdvance - 1) * scale,
          (lines * kLineStep - (kLineStep - kGlyphHeight)) * scale};
}

void draw_text(Image& image, int left, int top, std::string_view text, Color color, int scale) {
  int x = left, y = top;
  for (const char c : text) {
    if (c == '\n') {
      x = left;
      y += kLineStep * scale;
      continue;
    }
    draw_glyph(image, x, y, c, color, scale);
    x += kAdvance * scale;
  }
}

void draw_label(Image& image, int left, int top, std::string_view text, Color background,
                int scale) {
  const TextSize size = measure_text(text, scale);
  const int margin = 2 * scale;
  fill_rectangle(image, {left, top, size.width + 2 * margin, size.height + 2 * margin}, background);
  draw_text(image, left + margin, top + margin, text, readable_on(background), scale);
}

Image make_grid(std::span<const Image> images, int columns, int padding, Color background) {
  if (images.empty()) throw UsageError("a grid needs at least one picture");
  const int count = static_cast<int>(images.size());
  if (columns <= 0) columns = static_cast<int>(std::ceil(std::sqrt(double(count))));
  columns = std::min(columns, count);
  const int rows = (count + columns - 1) / columns;
  int width = 0, height = 0;
  for (const Image& image : images) {
    width = std::max(width, image.width);
    height = std::max(height, image.height);
  }
  Image grid = make_canvas(columns * (width + padding) + padding,
                           rows * (height + padding) + padding, background);
  for (int i = 0; i < count; ++i) {
    paste(grid, images[std::size_t(i)], padding + i % columns * (width + padding),
          padding + i / columns * (height + padding));
  }
  return grid;
}

}  // namespace addp
