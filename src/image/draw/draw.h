// Drawing on pictures, for reports and visualisations. Whatever lies outside the
// picture is clipped.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "image/box.h"
#include "image/image.h"
#include "image/resize/affine.h"

namespace addp {

inline constexpr Color kBlack{0, 0, 0};
inline constexpr Color kWhite{255, 255, 255};

// Colours that are easy to tell apart, the same for the same index; neighbours differ most.
Color distinct_color(int index);
// Black or white, whichever is easier to read on the background.
Color readable_on(Color background);

Image make_canvas(int width, int height, Color color = kWhite);
void fill_rectangle(Image& image, const PixelBox& box, Color color);
void draw_rectangle(Image& image, const PixelBox& box, Color color, int thickness = 1);
void draw_line(Image& image, int x0, int y0, int x1, int y1, Color color, int thickness = 1);
void paste(Image& image, const Image& patch, int left, int top);

// Colours the pixels where the mask is not 0; opacity 1 covers them. The mask has
// the picture's size.
void blend_mask(Image& image, const GrayImage& mask, Color color, float opacity = 0.5f);

struct TextSize {
  int width = 0, height = 0;
};

// A built-in 5x7 font for printable ASCII, `scale` times enlarged; other characters show as a box.
// '\n' starts a new line.
TextSize measure_text(std::string_view text, int scale = 1);
void draw_text(Image& image, int left, int top, std::string_view text, Color color, int scale = 1);
// The same on a filled background that is slightly larger than the text.
void draw_label(Image& image, int left, int top, std::string_view text, Color background,
                int scale = 1);

// Row by row, each cell as large as the largest picture; `columns` 0 gives about a square.
Image make_grid(std::span<const Image> images, int columns = 0, int padding = 2,
                Color background = kWhite);

}  // namespace addp
