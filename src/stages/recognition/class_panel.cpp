#include "stages/recognition/class_panel.h"

#include <fmt/format.h>

#include <algorithm>

#include "eval/recognition/picture_tensors.h"
#include "image/draw/draw.h"
#include "image/resize/resize.h"
#include "nn/layer/picture_tensor.h"
#include "nn/layer/pixels.h"
#include "nn/torch.h"

namespace addp {
namespace {

struct ClassVerdict {
  std::string guess, truth;  // names
  double probability = 0;    // of the guess
};

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

// A sheet of pictures with the guess (green where it is right, red where not) and the truth below.
Image class_panel(const std::vector<Image>& pictures, const std::vector<ClassVerdict>& verdicts) {
  std::vector<Image> cards;
  for (std::size_t i = 0; i < std::min(pictures.size(), verdicts.size()); ++i) {
    cards.push_back(card(pictures[i], verdicts[i]));
  }
  return make_grid(cards, 8, 6);
}

}  // namespace

Panel prediction_panel(Classifier& classifier, const std::shared_ptr<const Dataset>& validation) {
  const ClassifierConfig& config = classifier.config();
  std::vector<Image> shown;
  std::vector<ClassVerdict> verdicts;
  const TensorPass pass{.pictures = {.limit = 2 * kShownPictures,
                                     .order = PassOrder::kShuffled,
                                     .batch = 2 * kShownPictures,
                                     .max_broken = 1,
                                     .when_interrupted = ""},
                        .size = config.picture_size(),
                        .crop = config.crop};
  const auto name = [&](std::int64_t index) {
    return index < 0 ? std::string("?") : config.class_names.at(static_cast<std::size_t>(index));
  };
  for_each_batch(validation, pass, [&](const PictureBatch& batch) {
    const Tensor logits = classifier.forward(normalise_pixels(batch.pixels));
    const auto [best, guess] = logits.softmax(1).max(1);
    for (std::int64_t i = 0; i < batch.pixels.size(0); ++i) {
      shown.push_back(to_image(batch.pixels[i]));
      verdicts.push_back({name(guess[i].item<std::int64_t>()),
                          name(batch.labels[i].item<std::int64_t>()), best[i].item<double>()});
    }
  });
  return {"predictions", class_panel(shown, verdicts)};
}

}  // namespace addp
