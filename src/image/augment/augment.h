// The training transforms: where to crop, what to erase, and pixels to normalised floats.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/random.h"
#include "image/box.h"
#include "image/image.h"
#include "image/imagenet.h"

namespace addp {

struct RandomCropOptions {
  double min_area = 0.08, max_area = 1.0;             // share of the picture
  double min_aspect = 3.0 / 4, max_aspect = 4.0 / 3;  // width / height
};

// torchvision's RandomResizedCrop: ten tries at an area and an aspect ratio, then the largest
// middle part of an allowed aspect.
PixelBox random_resized_crop(int width, int height, const RandomCropOptions& options,
                             RandomStream& random);

struct Normalisation {
  std::array<float, 3> mean = kImageNetMean, deviation = kImageNetDeviation;
};

// out[c, y, x] = (pixel / 255 - mean[c]) / deviation[c]; out has 3 * height * width elements.
void to_chw(const Image& image, std::span<float> out, const Normalisation& normalisation);
void to_chw(const Image& image, std::span<float> out);  // [0, 1], neither mean nor deviation

struct RandomErasingOptions {
  double probability = 0.25;
  double min_area = 0.02, max_area = 1.0 / 3;  // share of the picture
  double min_aspect = 0.3;                     // height / width, up to 1 / min_aspect
};

// timm's RandomErasing in pixel mode: one rectangle becomes normal noise, per value. `chw` is [3,
// height, width], normalised. Returns the rectangle, empty (width 0) if none was erased.
PixelBox random_erasing(std::span<float> chw, int width, int height,
                        const RandomErasingOptions& options, RandomStream& random);

}  // namespace addp
