#include "data/shapes/shape_texture.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace addp {
namespace {

constexpr float kTau = 2 * std::numbers::pi_v<float>;

float smooth_step(float low, float high, float x) {
  const float t = std::clamp((x - low) / (high - low), 0.0F, 1.0F);
  return t * t * (3 - 2 * t);
}

// A wave between 0 and 1 whose flanks are `soft` periods wide.
float square_wave(float phase, float soft) {
  const float position = std::abs(phase - std::floor(phase) - 0.5F) - 0.25F;  // 0 at the flanks
  const float half = std::clamp(soft, 0.02F, 0.25F);
  return smooth_step(-half, half, position);
}

}  // namespace

Rgb blend(const Rgb& a, const Rgb& b, float amount) { return a * (1 - amount) + b * amount; }

float luminance(const Rgb& colour) {
  return 0.299F * colour.r + 0.587F * colour.g + 0.114F * colour.b;
}

float colour_distance(const Rgb& a, const Rgb& b) {
  const float dr = a.r - b.r, dg = a.g - b.g, db = a.b - b.b;
  return std::sqrt(0.299F * dr * dr + 0.587F * dg * dg + 0.114F * db * db);
}

Rgb from_hsv(float hue, float saturation, float value) {
  const auto channel = [&](float offset) {
    const float k = std::fmod(hue * 6 + offset + 12, 6.0F);
    return value - value * saturation * std::clamp(std::min(k, 4 - k), 0.0F, 1.0F);
  };
  return {channel(5), channel(3), channel(1)};
}

TextureNoise::TextureNoise(RandomStream& random, int cells, int octaves) {
  float weight = 1, total = 0;
  for (int i = 0; i < octaves; ++i, weight *= 0.5F, cells *= 2) {
    Grid grid{cells, weight, std::vector<float>(std::size_t(cells + 1) * std::size_t(cells + 1))};
    random.fill_uniform(grid.values);
    grids_.push_back(std::move(grid));
    total += weight;
  }
  for (Grid& grid : grids_) grid.weight /= total;
}

float TextureNoise::at(float u, float v) const {
  float sum = 0;
  for (const Grid& grid : grids_) {
    const float x = std::clamp(u, 0.0F, 0.9999F) * static_cast<float>(grid.cells);
    const float y = std::clamp(v, 0.0F, 0.9999F) * static_cast<float>(grid.cells);
    const int ix = static_cast<int>(x), iy = static_cast<int>(y);
    const float fx = smooth_step(0, 1, x - static_cast<float>(ix));
    const float fy = smooth_step(0, 1, y - static_cast<float>(iy));
    const float* row = grid.values.data() + std::size_t(iy) * std::size_t(grid.cells + 1) + ix;
    const float* below = row + grid.cells + 1;
    const float top = row[0] + (row[1] - row[0]) * fx;
    const float bottom = below[0] + (below[1] - below[0]) * fx;
    sum += grid.weight * (top + (bottom - top) * fy);
  }
  return sum;
}

Texture::Texture(RandomStream& random, TextureKind kind, Rgb base, float contrast, float frequency)
    : kind_(kind), first_(base), frequency_(frequency), noise_(random, 3, 4) {
  const auto angle = static_cast<float>(random.uniform(0, kTau));
  cos_ = std::cos(angle);
  sin_ = std::sin(angle);
  phase_ = static_cast<float>(random.uniform());
  // Towards white from a dark colour and towards black from a light one, with a little of
  // a neighbouring hue.
  const Rgb target = luminance(base) > 0.5F ? Rgb{0.05F, 0.05F, 0.1F} : Rgb{1, 1, 0.95F};
  const Rgb turned{base.g, base.b, base.r};
  second_ = blend(blend(base, target, contrast), turned, 0.25F * contrast);
}

float Texture::pattern(float u, float v, float pixel) const {
  const float along = u * cos_ + v * sin_, across = v * cos_ - u * sin_;
  const float soft = pixel * frequency_;
  const float cloud = noise_.at(u, v);
  switch (kind_) {
    case TextureKind::kCloud:
      return smooth_step(0.25F, 0.75F, cloud);
    case TextureKind::kGradient:
      return std::clamp(0.5F + 0.6F * (along - 0.5F * (cos_ + sin_)) + 0.3F * (cloud - 0.5F), 0.0F,
                        1.0F);
    case TextureKind::kStripes:
      return square_wave(along * frequency_ + phase_ + 0.5F * (cloud - 0.5F), soft);
    case TextureKind::kChecker: {
      const float a = square_wave(along * frequency_ + phase_, soft);
      const float b = square_wave(across * frequency_ + phase_, soft);
      return a + b - 2 * a * b;
    }
    case TextureKind::kDots: {
      const float x = along * frequency_ + phase_, y = across * frequency_ + phase_;
      const float dx = x - std::floor(x) - 0.5F, dy = y - std::floor(y) - 0.5F;
      return 1 - smooth_step(0.27F - soft, 0.27F + soft, std::hypot(dx, dy));
    }
    case TextureKind::kMarble:
      return 0.5F + 0.5F * std::sin(kTau * (along * frequency_ * 0.5F + 2.5F * cloud));
  }
  return 0;
}

Rgb Texture::at(float u, float v, float pixel) const {
  const float grain = 0.94F + 0.12F * noise_.at(v, u);
  return blend(first_, second_, pattern(u, v, pixel)) * grain;
}

}  // namespace addp
