// Label maps over pictures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "image/draw/draw.h"
#include "image/image.h"

namespace addp {

// The colour that a class is shown in: none for the ground that the others lie on (a class named
// "background"), and for labels without a class.
std::optional<Color> label_color(int label, const std::vector<std::string>& class_names);

// The picture with every label in its colour over it.
Image overlay_labels(Image picture, const GrayImage& labels,
                     const std::vector<std::string>& class_names, float opacity = 0.55f);

}  // namespace addp
