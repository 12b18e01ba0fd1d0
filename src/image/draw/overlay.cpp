#include "image/draw/overlay.h"

#include "base/error.h"

namespace addp {

std::optional<Color> label_color(int label, const std::vector<std::string>& class_names) {
  if (label < 0 || static_cast<std::size_t>(label) >= class_names.size()) return std::nullopt;
  if (class_names[static_cast<std::size_t>(label)] == "background") return std::nullopt;
  return distinct_color(label);
}

Image overlay_labels(Image picture, const GrayImage& labels,
                     const std::vector<std::string>& class_names, float opacity) {
  if (picture.width != labels.width || picture.height != labels.height) {
    throw UsageError("labels of {} x {} do not fit a picture of {} x {}", labels.width,
                     labels.height, picture.width, picture.height);
  }
  for (std::size_t i = 0; i < labels.pixels.size(); ++i) {
    const auto colour = label_color(labels.pixels[i], class_names);
    if (!colour) continue;
    for (std::size_t c = 0; c < 3; ++c) {
      std::uint8_t& value = picture.pixels[3 * i + c];
      value = static_cast<std::uint8_t>((1 - opacity) * static_cast<float>(value) +
                                        opacity * static_cast<float>((*colour)[c]) + 0.5f);
    }
  }
  return picture;
}

}  // namespace addp
