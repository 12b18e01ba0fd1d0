// Resampling with antialiasing that gives Pillow's values bit for bit: the filter is stretched by
// the reduction, its weights are rounded to 22 binary digits, and a horizontal pass rounded to 8
// bits is followed by a vertical one.
#pragma once

#include "image/box.h"
#include "image/image.h"

namespace addp {

enum class Resample {
  kNearest,
  kBox,
  kBilinear,
  kBicubic,  // Keys' kernel with a = -0.5
};

// `box` chooses the part of the picture that fills the result. As in Pillow, the filter also sees
// pixels just outside it; crop() first where it must not. A box outside the picture is a
// UsageError. `mirror` turns the result left to right at no cost.
Image resize(const Image& image, int width, int height, Resample filter, const Box& box,
             bool mirror = false);
Image resize(const Image& image, int width, int height, Resample filter = Resample::kBicubic);

// Label maps: the nearest value.
GrayImage resize_labels(const GrayImage& image, int width, int height, const Box& box);
GrayImage resize_labels(const GrayImage& image, int width, int height);

Image crop(const Image& image, const PixelBox& box);
GrayImage crop(const GrayImage& image, const PixelBox& box);
void flip_horizontally(Image& image);
void flip_horizontally(GrayImage& image);
// A quarter turn against the clock, so many times.
void turn_quarters(Image& image, int turns);
void turn_quarters(GrayImage& image, int turns);

// The middle of the picture (torchvision's CenterCrop); a side shorter than `size` is a UsageError.
PixelBox center_box(int width, int height, int size);

}  // namespace addp
