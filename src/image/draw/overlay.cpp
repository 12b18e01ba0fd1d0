#include "image/draw/overlay.h"

#include "base/error.h"
#include "image/draw/draw.h"

namespace addp {

Image overlay_labels(Image picture, const GrayImage& labels, float opacity, int ignored) {
  if (picture.width != labels.width || picture.height != labels.height) {
    throw UsageError("labels of {} x {} do not fit a picture of {} x {}", labels.width,
                     labels.height, picture.width, picture.height);
  }
  for (std::size_t i = 0; i < labels.pixels.size(); ++i) {
    if (labels.pixels[i] == ignored) continue;
    const Color colour = distinct_color(labels.pixels[i]);
    for (std::size_t c = 0; c < 3; ++c) {
      std::uint8_t& value = picture.pixels[3 * i + c];
      value = static_cast<std::uint8_t>((1 - opacity) * static_cast<float>(value) +
                                        opacity * static_cast<float>(colour[c]) + 0.5f);
    }
  }
  return picture;
}

}  // namespace addp
