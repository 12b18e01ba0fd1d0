// Colours and textures of the procedural set. Coordinates are fractions of the picture, so that a
// picture looks the same at every size.
#pragma once

#include <vector>

#include "base/random.h"

namespace addp {

struct Rgb {
  float r = 0, g = 0, b = 0;

  Rgb operator*(float k) const { return {r * k, g * k, b * k}; }
  Rgb operator+(const Rgb& o) const { return {r + o.r, g + o.g, b + o.b}; }
};

Rgb blend(const Rgb& a, const Rgb& b, float amount);
float luminance(const Rgb& colour);
float colour_distance(const Rgb& a, const Rgb& b);
Rgb from_hsv(float hue, float saturation, float value);  // each 0..1; the hue wraps

// Smooth noise in 0..1: random values on grids of doubling fineness, each with half the weight.
class TextureNoise {
 public:
  TextureNoise(RandomStream& random, int cells, int octaves);
  float at(float u, float v) const;

 private:
  struct Grid {
    int cells;
    float weight;
    std::vector<float> values;  // [cells + 1, cells + 1]
  };
  std::vector<Grid> grids_;
};

enum class TextureKind { kCloud, kGradient, kStripes, kChecker, kDots, kMarble };

class Texture {
 public:
  // `contrast` 0..1 is how far the second colour lies from the first. `frequency`: pattern
  // periods per picture.
  Texture(RandomStream& random, TextureKind kind, Rgb base, float contrast, float frequency);
  // `pixel` is the width of one pixel: edges inside the pattern are softened over it.
  Rgb at(float u, float v, float pixel) const;

 private:
  float pattern(float u, float v, float pixel) const;

  TextureKind kind_;
  Rgb first_, second_;
  float frequency_, cos_, sin_, phase_;
  TextureNoise noise_;
};

}  // namespace addp
