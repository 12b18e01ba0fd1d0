// Label maps over pictures.
#pragma once

#include "image/image.h"

namespace addp {

// The picture with every label in its distinct colour (image/draw/draw.h) over it; `ignored` stays
// as it is.
Image overlay_labels(Image picture, const GrayImage& labels, float opacity = 0.55f,
                     int ignored = 255);

}  // namespace addp
