// The transforms that need a picture only: crops for training and for evaluation.
#pragma once

#include <functional>
#include <optional>

#include "data/load/loader.h"
#include "image/augment/augment.h"
#include "image/augment/randaugment.h"
#include "image/codec/crop_decode.h"

namespace addp {

// Decodes just the part that is asked for; pictures that come decoded are cropped.
Image crop_sample(const Sample& sample, const std::function<CropRequest(const ImageInfo&)>& choose);

struct CropTransformOptions {
  int size = 224;
  RandomCropOptions crop;  // training only
  bool flip = true;        // training only: half of the pictures are mirrored
  bool turn = false;       // training only: by 0 to 3 quarter turns
  double middle = 1;       // evaluation only: share of the middle square's side that is kept
  Resample filter = Resample::kBicubic;
};

// Random part (the middle square where all of a picture is asked for), resized to size x size,
// into item.floats ([0, 1]) or item.bytes.
Transform random_crop_transform(const CropTransformOptions& options);
// The largest middle square (or `middle` of its side), resized to size x size.
Transform middle_crop_transform(const CropTransformOptions& options);

// What a classifier is trained on: a random crop, RandAugment, random erasing. Erased pixels are
// normal noise with ImageNet's mean and deviation, as if they were erased after normalising.
struct AugmentTransformOptions {
  CropTransformOptions crop;
  std::optional<RandAugmentOptions> augment;
  RandomErasingOptions erasing{.probability = 0};
};
Transform augment_transform(const AugmentTransformOptions& options);

// Writes the pixels where the batch wants them.
void store_pixels(const Image& image, BatchItem& item);

}  // namespace addp
