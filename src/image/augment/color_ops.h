// Colour operations with Pillow's arithmetic (ImageOps, ImageEnhance), value for value.
#pragma once

#include "image/image.h"

namespace addp {

Image autocontrast(const Image& image);  // every channel stretched to 0..255
Image equalize(const Image& image);      // every channel's histogram made flat
Image invert(const Image& image);
Image posterize(const Image& image, int bits);  // keeps the upper bits; 8 or more changes nothing
Image solarize(const Image& image, int threshold);  // inverts what is at least the threshold
// Adds below the threshold.
Image solarize_add(const Image& image, int amount, int threshold = 128);

// A factor of 1 leaves the picture, 0 takes all away, more than 1 exaggerates.
Image adjust_color(const Image& image, float factor);
Image adjust_contrast(const Image& image, float factor);
Image adjust_brightness(const Image& image, float factor);
Image adjust_sharpness(const Image& image, float factor);

}  // namespace addp
