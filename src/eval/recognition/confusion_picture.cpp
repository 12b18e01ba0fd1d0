#include "eval/recognition/confusion_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "image/draw/draw.h"

namespace addp {
namespace {

constexpr std::int64_t kNamedClasses = 40;
constexpr std::string_view kTitle = "predicted (columns), percent of the true class (rows)";
constexpr int kCell = 30, kMargin = 8, kLargestSide = 1600;

Color share_color(double share) {
  const auto mix = [share](int to) {
    return static_cast<std::uint8_t>(std::lround(255 + share * (to - 255)));
  };
  return {mix(8), mix(48), mix(107)};
}

// Columns are numbered, as names would not fit above them.
void label_axes(Image& image, const std::vector<std::string>& names, int left, int top) {
  for (int i = 0; i < static_cast<int>(names.size()); ++i) {
    const std::string number = fmt::format("{}", i);
    const std::string row = fmt::format("{} {}", names[static_cast<std::size_t>(i)], number);
    const TextSize size = measure_text(row);
    draw_text(image, left - 6 - size.width, top + i * kCell + (kCell - size.height) / 2, row,
              kBlack);
    draw_text(image, left + i * kCell + (kCell - measure_text(number).width) / 2, top - 12, number,
              kBlack);
  }
}

}  // namespace

Image confusion_picture(const ConfusionMatrix& matrix, const std::vector<std::string>& names) {
  const auto classes = static_cast<int>(matrix.classes());
  const bool named = classes <= kNamedClasses && static_cast<int>(names.size()) == classes;
  const int cell = classes <= kNamedClasses ? kCell : std::max(1, kLargestSide / classes);
  int left = kMargin, top = kMargin;
  if (named) {
    for (const auto& name : names) left = std::max(left, measure_text(name + " 00").width + 14);
    top = 36;
  }
  const int width = std::max(classes * cell, named ? measure_text(kTitle).width : 0);
  Image image = make_canvas(left + width + kMargin, top + classes * cell + kMargin);
  if (named) {
    draw_text(image, left, 6, kTitle, kBlack);
    label_axes(image, names, left, top);
  }
  for (int truth = 0; truth < classes; ++truth) {
    const auto row = double(std::max<std::int64_t>(1, matrix.truths(truth)));
    for (int guess = 0; guess < classes; ++guess) {
      const double share = double(matrix.at(truth, guess)) / row;
      const Color color = share_color(share);
      const PixelBox box{left + guess * cell, top + truth * cell, cell, cell};
      fill_rectangle(image, box, color);
      if (!named || share < 0.005) continue;
      const std::string text = fmt::format("{:.0f}", 100 * share);
      const TextSize size = measure_text(text);
      draw_text(image, box.left + (cell - size.width) / 2, box.top + (cell - size.height) / 2, text,
                readable_on(color));
    }
  }
  const int side = classes * cell;
  draw_rectangle(image, {left - 1, top - 1, side + 2, side + 2}, kBlack);
  return image;
}

}  // namespace addp
