#include "stages/recognition/class_panel.h"

#include <fmt/format.h>

#include <algorithm>

#include "image/draw/draw.h"
#include "image/resize/resize.h"

namespace addp {
namespace {

constexpr int kSide = 144, kTextHeight = 26;
constexpr Color kRight{0, 110, 40}, kWrong{180, 20, 20};

// As much of a name as fits below a picture.
std::string fitted(const std::string& text) {
  constexpr std::size_t kLetters = 23;
  return text.size() <= kLetters ? text : text.substr(0, kLetters - 2) + "..";
}

Image card(const Image& picture, const ClassVerdict& verdict) {
  Image image = make_canvas(kSide, kSide + kTextHeight);
  const bool whole = picture.width <= kSide && kSide % picture.width == 0;
  paste(image, resize(picture, kSide, kSide, whole ? Resample::kNearest : Resample::kBicubic), 0,
        0);
  const bool right = verdict.guess == verdict.truth;
  draw_text(image, 2, kSide + 4,
            fitted(fmt::format("{} {:.0f}%", verdict.guess, 100 * verdict.probability)),
            right ? kRight : kWrong);
  if (!right) draw_text(image, 2, kSide + 15, fitted("is: " + verdict.truth), kBlack);
  return image;
}

}  // namespace

Image class_panel(const std::vector<Image>& pictures, const std::vector<ClassVerdict>& verdicts) {
  std::vector<Image> cards;
  for (std::size_t i = 0; i < std::min(pictures.size(), verdicts.size()); ++i) {
    cards.push_back(card(pictures[i], verdicts[i]));
  }
  return make_grid(cards, 8, 6);
}

}  // namespace addp
