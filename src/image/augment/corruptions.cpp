#include "image/augment/corruptions.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "base/option/options.h"
#include "image/augment/float_image.h"
#include "image/codec/codec.h"
#include "image/resize/resize.h"

namespace addp {
namespace {

// One strength for each severity; the columns are the parameters of the published script.
template <class... T>
using Strengths = std::array<std::tuple<T...>, kSeverities>;

struct Setting {
  int severity;  // 0 to 4
  double scale;  // of lengths: the shorter side over 224
  RandomStream& random;
};

constexpr double degrees(double value) { return value * std::numbers::pi / 180; }

// --- noise

FloatImage gaussian_noise(FloatImage x, const Setting& s) {
  constexpr std::array<double, 5> deviation = {.08, .12, .18, .26, .38};
  for (float& v : x.values) v += float(deviation[std::size_t(s.severity)] * s.random.normal());
  return x;
}

// Poisson by inversion; the means here are at most 60.
double poisson(double mean, RandomStream& random) {
  double left = random.uniform(), probability = std::exp(-mean);
  int count = 0;
  while (left > probability && count < 1000) {
    left -= probability;
    probability *= mean / ++count;
  }
  return count;
}

FloatImage shot_noise(FloatImage x, const Setting& s) {
  constexpr std::array<double, 5> photons = {60, 25, 12, 5, 3};
  const double c = photons[std::size_t(s.severity)];
  for (float& v : x.values) v = float(poisson(double(v) * c, s.random) / c);
  return x;
}

FloatImage impulse_noise(FloatImage x, const Setting& s) {
  constexpr std::array<double, 5> share = {.03, .06, .09, .17, .27};
  for (float& v : x.values) {
    const double u = s.random.uniform();
    if (u < share[std::size_t(s.severity)])
      v = u < share[std::size_t(s.severity)] / 2 ? 0.0F : 1.0F;
  }
  return x;
}

// --- blur

FloatImage defocus_blur(const FloatImage& x, const Setting& s) {
  constexpr Strengths<double, double> c = {{{3, .1}, {4, .5}, {6, .5}, {8, .5}, {10, .5}}};
  const auto [radius, softness] = c[std::size_t(s.severity)];
  // Below a pixel of radius the softened edge carries the strength.
  return filter(x, disc_taps(radius * s.scale, std::max(softness, 1.0)));
}

FloatImage glass_blur(const FloatImage& image, const Setting& s) {
  constexpr Strengths<double, int, int> c = {
      {{.7, 1, 2}, {.9, 2, 1}, {1, 2, 3}, {1.1, 3, 2}, {1.5, 4, 2}}};
  const auto [deviation, reach, rounds] = c[std::size_t(s.severity)];
  FloatImage x = gaussian_blur(image, deviation * s.scale);
  const int distance = std::max(1, int(std::lround(reach * s.scale)));
  for (int round = 0; round < rounds; ++round) {
    for (int py = x.height - 1 - distance; py >= distance; --py) {
      for (int px = x.width - 1 - distance; px >= distance; --px) {
        const auto dx = int(s.random.integer(-distance, distance - 1));
        const auto dy = int(s.random.integer(-distance, distance - 1));
        if (dx == 0 && dy == 0) continue;
        std::swap_ranges(x.at(px, py), x.at(px, py) + x.channels, x.at(px + dx, py + dy));
      }
    }
  }
  return gaussian_blur(x, deviation * s.scale);
}

FloatImage motion_blur(const FloatImage& x, const Setting& s) {
  constexpr Strengths<double, double> c = {{{10, 3}, {15, 5}, {15, 8}, {15, 12}, {20, 15}}};
  const auto [radius, deviation] = c[std::size_t(s.severity)];
  const double angle = degrees(s.random.uniform(-45, 45));
  return filter(x, motion_taps(radius * s.scale, deviation * s.scale, angle));
}

FloatImage zoom_blur(const FloatImage& x, const Setting& s) {
  constexpr Strengths<double, double> c = {
      {{1.11, .01}, {1.16, .01}, {1.21, .02}, {1.26, .02}, {1.31, .03}}};
  const auto [end, step] = c[std::size_t(s.severity)];
  FloatImage sum = x;
  int count = 1;
  for (int i = 0; 1 + i * step < end - 1e-9; ++i, ++count) {
    const FloatImage part = zoom(x, 1 + i * step);
    for (std::size_t k = 0; k < sum.values.size(); ++k) sum.values[k] += part.values[k];
  }
  for (float& v : sum.values) v /= float(count);
  return sum;
}

// --- weather

float grey(const float* pixel) { return 0.299F * pixel[0] + 0.587F * pixel[1] + 0.114F * pixel[2]; }

FloatImage snow(FloatImage x, const Setting& s) {
  // mean and deviation of the flakes' noise, their size, threshold, radius and deviation of the
  // fall, share of the picture that stays unbleached
  constexpr Strengths<double, double, double, double, double, double, double> c = {
      {{.1, .3, 3, .5, 10, 4, .8},
       {.2, .3, 2, .5, 12, 4, .7},
       {.55, .3, 4, .9, 12, 8, .7},
       {.55, .3, 4.5, .85, 12, 8, .65},
       {.55, .3, 2.5, .85, 12, 12, .55}}};
  const auto [mean, deviation, size, threshold, radius, trail, keep] = c[std::size_t(s.severity)];
  FloatImage flakes(x.width, x.height, 1);
  for (float& v : flakes.values) v = float(mean + deviation * s.random.normal());
  flakes = zoom(flakes, std::max(1.0, size * s.scale));
  for (float& v : flakes.values) v = double(v) < threshold ? 0.0F : std::min(v, 1.0F);
  const double angle = degrees(s.random.uniform(-135, -45));
  flakes = filter(flakes, motion_taps(radius * s.scale, trail * s.scale, angle));
  for (int py = 0; py < x.height; ++py) {
    for (int px = 0; px < x.width; ++px) {
      float* pixel = x.at(px, py);
      const float bleached = grey(pixel) * 1.5F + 0.5F;
      // Flakes fall twice, the second time turned by half a turn.
      const float fall = *flakes.at(px, py) + *flakes.at(x.width - 1 - px, x.height - 1 - py);
      for (int i = 0; i < 3; ++i) {
        pixel[i] = float(keep) * pixel[i] + float(1 - keep) * std::max(pixel[i], bleached) + fall;
      }
    }
  }
  return x;
}

// How near two layers of clouds are to their middle value, where each draws thin branching lines.
double crystal_lines(double coarse, double fine) {
  const double trunk = 1 - std::min(1.0, std::abs(coarse - 0.5) / 0.06);
  const double twig = 1 - std::min(1.0, std::abs(fine - 0.5) / 0.10);
  return std::max(trunk, 0.8 * twig);
}

// Ice grows from the edges of a pane: lines of crystals over a cloudy film, both denser
// towards the border.
FloatImage frost_texture(int width, int height, RandomStream& random) {
  const FloatImage film = plasma(width, height, 1.7, random);
  const FloatImage coarse = plasma(width, height, 1.5, random);
  const FloatImage fine = plasma(width, height, 1.25, random);
  FloatImage out(width, height, 3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const double u = std::abs((x + 0.5) / width * 2 - 1),
                   v = std::abs((y + 0.5) / height * 2 - 1);
      const double border = std::max(u, v);
      const double lines = crystal_lines(double(*coarse.at(x, y)), double(*fine.at(x, y)));
      const double ice = std::clamp(0.45 * double(*film.at(x, y)) * (0.5 + border) +
                                        0.55 * lines * (0.5 + 0.5 * border) + 0.15 * border,
                                    0.0, 1.0);
      float* pixel = out.at(x, y);
      pixel[0] = float(0.84 * ice);  // ice is a little blue
      pixel[1] = float(0.94 * ice);
      pixel[2] = float(ice);
    }
  }
  return out;
}

FloatImage frost(FloatImage x, const Setting& s) {
  constexpr Strengths<double, double> c = {{{1, .4}, {.8, .6}, {.7, .7}, {.65, .7}, {.6, .75}}};
  const auto [picture, ice] = c[std::size_t(s.severity)];
  const FloatImage texture = frost_texture(x.width, x.height, s.random);
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    x.values[i] = float(picture) * x.values[i] + float(ice) * texture.values[i];
  }
  return x;
}

FloatImage fog(FloatImage x, const Setting& s) {
  constexpr Strengths<double, double> c = {{{1.5, 2}, {2, 2}, {2.5, 1.7}, {2.5, 1.5}, {3, 1.4}}};
  const auto [density, decay] = c[std::size_t(s.severity)];
  const FloatImage cloud = plasma(x.width, x.height, decay, s.random);
  const double brightest = double(*std::max_element(x.values.begin(), x.values.end()));
  const double factor = brightest > 0 ? brightest / (brightest + density) : 1 / (1 + density);
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    x.values[i] = float((double(x.values[i]) + density * double(cloud.values[i / 3])) * factor);
  }
  return x;
}

// The value of HSV grows, hue and saturation stay.
FloatImage brightness(FloatImage x, const Setting& s) {
  constexpr std::array<float, 5> c = {.1F, .2F, .3F, .4F, .5F};
  for (std::size_t i = 0; i < x.values.size(); i += 3) {
    float* pixel = &x.values[i];
    const float value = std::max({pixel[0], pixel[1], pixel[2]});
    const float wanted = std::min(value + c[std::size_t(s.severity)], 1.0F);
    for (int k = 0; k < 3; ++k) pixel[k] = value > 0 ? pixel[k] * (wanted / value) : wanted;
  }
  return x;
}

// --- digital

FloatImage contrast(FloatImage x, const Setting& s) {
  constexpr std::array<double, 5> c = {.4, .3, .2, .1, .05};
  std::array<double, 3> mean{};
  for (std::size_t i = 0; i < x.values.size(); ++i) mean[i % 3] += double(x.values[i]);
  for (double& m : mean) m /= double(x.values.size()) / 3;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    x.values[i] =
        float((double(x.values[i]) - mean[i % 3]) * c[std::size_t(s.severity)] + mean[i % 3]);
  }
  return x;
}

// A smooth field of displacements: uniform noise, blurred.
FloatImage displacement(const FloatImage& like, double amplitude, double smoothness,
                        RandomStream& random) {
  FloatImage field(like.width, like.height, 1);
  for (float& v : field.values) v = float(random.uniform(-1, 1));
  field = gaussian_blur(field, smoothness);
  for (float& v : field.values) v *= float(amplitude);
  return field;
}

// The affine map around the centre that moves three points to where they were jittered. It says
// where to take a pixel from; the jitter is symmetric, so that or its inverse makes no difference.
struct Affine {
  double a, b, c, d, e, f;  // x' = a x + b y + c, y' = d x + e y + f
};

Affine jittered_affine(double side, double jitter, RandomStream& random) {
  // Points (q, q), (q, -q), (-q, -q) around the centre, q a third of the side.
  const double q = side / 3;
  std::array<double, 3> u{}, v{};
  for (std::size_t i = 0; i < 3; ++i) {
    u[i] = random.uniform(-jitter, jitter);
    v[i] = random.uniform(-jitter, jitter);
  }
  Affine map{};
  map.a = 1 + (u[1] - u[2]) / (2 * q);
  map.b = (u[0] - u[1]) / (2 * q);
  map.c = (u[0] + u[2]) / 2;
  map.d = (v[1] - v[2]) / (2 * q);
  map.e = 1 + (v[0] - v[1]) / (2 * q);
  map.f = (v[0] + v[2]) / 2;
  return map;
}

// The coordinate inside 0..last when the picture's edges are mirrors.
double mirrored(double at, int last) {
  if (last == 0) return 0;
  const double folded = std::fmod(std::abs(at), 2.0 * last);
  return folded <= last ? folded : 2.0 * last - folded;
}

FloatImage elastic_transform(const FloatImage& x, const Setting& s) {
  // amplitude, smoothness and affine jitter as shares of the side (published for a side of 244)
  constexpr Strengths<double, double, double> c = {
      {{2, .7, .1}, {2, .08, .2}, {.05, .01, .02}, {.07, .01, .02}, {.12, .01, .02}}};
  const auto [amplitude, smoothness, jitter] = c[std::size_t(s.severity)];
  const double side = 244 * s.scale;
  const Affine map = jittered_affine(std::min(x.width, x.height), jitter * side, s.random);
  const FloatImage dx = displacement(x, amplitude * side, smoothness * side, s.random);
  const FloatImage dy = displacement(x, amplitude * side, smoothness * side, s.random);
  FloatImage out(x.width, x.height, 3);
  const double cx = (x.width - 1) / 2.0, cy = (x.height - 1) / 2.0;
  for (int py = 0; py < x.height; ++py) {
    for (int px = 0; px < x.width; ++px) {
      const double ux = px - cx + double(*dx.at(px, py)), uy = py - cy + double(*dy.at(px, py));
      sample(x, float(mirrored(cx + map.a * ux + map.b * uy + map.c, x.width - 1)),
             float(mirrored(cy + map.d * ux + map.e * uy + map.f, x.height - 1)), out.at(px, py));
    }
  }
  return out;
}

Image pixelate(const Image& image, int severity) {
  constexpr std::array<double, 5> c = {.6, .5, .4, .3, .25};
  const double share = c[std::size_t(severity)];
  const int width = std::max(1, int(image.width * share)),
            height = std::max(1, int(image.height * share));
  return resize(resize(image, width, height, Resample::kBox), image.width, image.height,
                Resample::kBox);
}

Image jpeg_compression(const Image& image, int severity) {
  constexpr std::array<int, 5> quality = {25, 18, 15, 10, 7};
  return decode_image(encode_jpeg(image, quality[std::size_t(severity)]), "a compressed picture");
}

FloatImage corrupt_float(const FloatImage& x, Corruption kind, const Setting& s) {
  switch (kind) {
    case Corruption::kGaussianNoise:
      return gaussian_noise(x, s);
    case Corruption::kShotNoise:
      return shot_noise(x, s);
    case Corruption::kImpulseNoise:
      return impulse_noise(x, s);
    case Corruption::kDefocusBlur:
      return defocus_blur(x, s);
    case Corruption::kGlassBlur:
      return glass_blur(x, s);
    case Corruption::kMotionBlur:
      return motion_blur(x, s);
    case Corruption::kZoomBlur:
      return zoom_blur(x, s);
    case Corruption::kSnow:
      return snow(x, s);
    case Corruption::kFrost:
      return frost(x, s);
    case Corruption::kFog:
      return fog(x, s);
    case Corruption::kBrightness:
      return brightness(x, s);
    case Corruption::kContrast:
      return contrast(x, s);
    default:
      return elastic_transform(x, s);
  }
}

}  // namespace

Corruption corruption_of(std::string_view name) {
  std::vector<std::string> names;
  for (const CorruptionInfo& info : kCorruptions) {
    if (info.name == name) return info.kind;
    names.emplace_back(info.name);
  }
  const auto near = nearest_name(name, names);
  throw UsageError("there is no corruption '{}'{}", name,
                   near ? fmt::format("; did you mean '{}'?", *near) : "");
}

Image corrupt(const Image& image, Corruption kind, int severity, RandomStream random) {
  if (severity < 1 || severity > kSeverities) {
    throw UsageError("severity {} of a corruption: choose 1 to {}", severity, kSeverities);
  }
  if (image.empty()) throw UsageError("an empty picture cannot be corrupted");
  if (kind == Corruption::kPixelate) return pixelate(image, severity - 1);
  if (kind == Corruption::kJpegCompression) return jpeg_compression(image, severity - 1);
  const Setting setting{severity - 1, std::min(image.width, image.height) / 224.0, random};
  return to_image(corrupt_float(to_float(image), kind, setting));
}

}  // namespace addp
