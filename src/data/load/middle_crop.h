// What evaluations, and whoever asks a trained network, see of a picture.
#pragma once

#include "image/codec/crop_decode.h"

namespace addp {

// The largest middle square, or `share` of its side, for a result of size x size.
CropRequest middle_crop(const ImageInfo& info, int size, double share = 1,
                        Resample filter = Resample::kBicubic);

// The largest middle square (or `share` of its side), resized, as evaluations cut pictures.
Image middle_square(const Image& picture, std::int64_t size, double share = 1);

}  // namespace addp
