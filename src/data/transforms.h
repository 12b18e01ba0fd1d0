// The transforms that need a picture only: crops for training and for evaluation.
#pragma once

#include <functional>

#include "data/loader.h"
#include "image/augment.h"
#include "image/crop_decode.h"

namespace addp {

// Decodes just the part that is asked for; pictures that come decoded are cropped.
Image crop_sample(const Sample& sample, const std::function<CropRequest(const ImageInfo&)>& choose);

struct CropTransformOptions {
  int size = 224;
  RandomCropOptions crop;  // training only
  bool flip = true;        // training only: half of the pictures are mirrored
  Resample filter = Resample::kBicubic;
};

// Random part, resized to size x size, into item.floats ([0, 1]) or item.bytes.
Transform random_crop_transform(const CropTransformOptions& options);
// The largest middle square, resized to size x size.
Transform middle_crop_transform(const CropTransformOptions& options);

// Writes the pixels where the batch wants them.
void store_pixels(const Image& image, BatchItem& item);

}  // namespace addp
