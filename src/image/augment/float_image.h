// Pictures in floating point and the filters that the corruptions are made of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/random.h"
#include "image/image.h"

namespace addp {

// Interleaved values, nominally in [0, 1].
struct FloatImage {
  int width = 0, height = 0, channels = 0;
  std::vector<float> values;  // [height, width, channels]

  FloatImage(int w, int h, int c)
      : width(w),
        height(h),
        channels(c),
        values(std::size_t(w) * std::size_t(h) * std::size_t(c)) {}

  float* at(int x, int y) {
    return values.data() +
           (std::size_t(y) * std::size_t(width) + std::size_t(x)) * std::size_t(channels);
  }
  const float* at(int x, int y) const { return const_cast<FloatImage*>(this)->at(x, y); }
  // The nearest pixel inside the picture.
  const float* nearest(int x, int y) const {
    return at(std::clamp(x, 0, width - 1), std::clamp(y, 0, height - 1));
  }
};

FloatImage to_float(const Image& image);
Image to_image(const FloatImage& image);  // clipped to [0, 1] and rounded

// Bilinear; coordinates outside take the nearest pixel. `out` receives `channels` values.
void sample(const FloatImage& image, float x, float y, float* out);

// A weight at an offset from the pixel that is computed.
struct Tap {
  int dx, dy;
  float weight;
};
// Beyond the edges the nearest pixel stands.
FloatImage filter(const FloatImage& image, const std::vector<Tap>& taps);

// The picture's edges mirror.
FloatImage gaussian_blur(const FloatImage& image, double deviation);
// Weights of a round aperture, its edge softened over `softness` pixels.
std::vector<Tap> disc_taps(double radius, double softness);
// A trail that fades as half a Gaussian, into the direction of `angle` (radians).
std::vector<Tap> motion_taps(double radius, double deviation, double angle);
// The middle of the picture, enlarged to fill it.
FloatImage zoom(const FloatImage& image, double factor);

// Clouds by the diamond-square algorithm (Fournier, Fussell & Carpenter 1982) on a torus: one
// channel in [0, 1]. The larger `decay`, the smoother.
FloatImage plasma(int width, int height, double decay, RandomStream& random);

}  // namespace addp
