#include "image/draw/draw.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "image/draw/font.h"
#include "image/draw/overlay.h"

namespace addp {
namespace {

constexpr Color kRed{255, 0, 0};

Color color_at(const Image& image, int x, int y) {
  return {image.at(x, y)[0], image.at(x, y)[1], image.at(x, y)[2]};
}

int count_color(const Image& image, Color color) {
  int count = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) count += color_at(image, x, y) == color;
  }
  return count;
}

TEST(Draw, RectanglesAreClipped) {
  Image image = make_canvas(10, 8);
  fill_rectangle(image, {-3, -3, 5, 5}, kRed);
  EXPECT_EQ(count_color(image, kRed), 4);
  fill_rectangle(image, {8, 6, 100, 100}, kRed);
  EXPECT_EQ(count_color(image, kRed), 8);
  fill_rectangle(image, {20, 20, 5, 5}, kRed);
  EXPECT_EQ(count_color(image, kRed), 8);
}

TEST(Draw, OutlineLeavesTheInside) {
  Image image = make_canvas(12, 12);
  draw_rectangle(image, {2, 2, 6, 5}, kRed, 1);
  EXPECT_EQ(count_color(image, kRed), 6 * 5 - 4 * 3);
  EXPECT_EQ(color_at(image, 4, 4), kWhite);
}

TEST(Draw, LineReachesBothEnds) {
  Image image = make_canvas(20, 20);
  draw_line(image, 1, 2, 17, 11, kRed);
  EXPECT_EQ(color_at(image, 1, 2), kRed);
  EXPECT_EQ(color_at(image, 17, 11), kRed);
  EXPECT_EQ(count_color(image, kRed), 17);
  draw_line(image, -50, -50, 100, 100, kRed, 3);
  EXPECT_EQ(color_at(image, 19, 19), kRed);
}

TEST(Draw, MaskBlends) {
  Image image = make_canvas(2, 1, {100, 100, 100});
  GrayImage mask(2, 1);
  mask.pixels = {0, 1};
  blend_mask(image, mask, {200, 0, 100}, 0.5f);
  EXPECT_EQ(color_at(image, 0, 0), (Color{100, 100, 100}));
  EXPECT_EQ(color_at(image, 1, 0), (Color{150, 50, 100}));
  EXPECT_THROW(blend_mask(image, GrayImage(3, 1), kRed), UsageError);
}

TEST(Draw, EveryGlyphIsDifferent) {
  std::set<Glyph> glyphs;
  for (int c = 32; c < 127; ++c) glyphs.insert(font_glyph(static_cast<char>(c)));
  EXPECT_EQ(glyphs.size(), 95u);
  EXPECT_FALSE(glyphs.count(font_glyph('\x7f')));
}

TEST(Draw, TextFitsItsMeasure) {
  for (const int scale : {1, 3}) {
    const std::string text = "Ag|\nWj";
    const TextSize size = measure_text(text, scale);
    Image image = make_canvas(size.width + 10, size.height + 10);
    draw_text(image, 5, 5, text, kRed, scale);
    const int all = count_color(image, kRed);
    EXPECT_GT(all, 0);
    fill_rectangle(image, {5, 5, size.width, size.height}, kWhite);
    EXPECT_EQ(count_color(image, kRed), 0);
    draw_text(image, -4, image.height - 3, text, kRed, scale);  // clipped, no overrun
  }
}

TEST(Draw, LabelsAreOverlaidButNotTheGround) {
  const std::vector<std::string> names = {"background", "cat"};
  GrayImage labels(3, 1);
  labels.pixels = {0, 1, 255};
  const Image shown = overlay_labels(make_canvas(3, 1, kRed), labels, names, 1);
  EXPECT_EQ(color_at(shown, 0, 0), kRed);
  EXPECT_EQ(color_at(shown, 1, 0), distinct_color(1));
  EXPECT_EQ(color_at(shown, 2, 0), kRed);
  EXPECT_THROW(overlay_labels(make_canvas(2, 1, kRed), labels, names), UsageError);
}

TEST(Draw, GridPlacesEveryPicture) {
  std::vector<Image> images;
  for (int i = 0; i < 5; ++i) images.push_back(make_canvas(4, 3, distinct_color(i)));
  const Image grid = make_grid(images, 3, 1);
  EXPECT_EQ(grid.width, 3 * 5 + 1);
  EXPECT_EQ(grid.height, 2 * 4 + 1);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(count_color(grid, distinct_color(i)), 12) << i;
  EXPECT_THROW(make_grid({}), UsageError);
}

TEST(Draw, ColoursAreDistinct) {
  std::set<Color> colors;
  for (int i = 0; i < 150; ++i) colors.insert(distinct_color(i));
  EXPECT_EQ(colors.size(), 150u);
  EXPECT_EQ(readable_on(kBlack), kWhite);
  EXPECT_EQ(readable_on(kWhite), kBlack);
}

}  // namespace
}  // namespace addp
