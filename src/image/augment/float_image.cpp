#include "image/augment/float_image.h"

#include <bit>
#include <cmath>

namespace addp {
namespace {

void normalise(std::vector<Tap>& taps) {
  double sum = 0;
  for (const Tap& tap : taps) sum += double(tap.weight);
  for (Tap& tap : taps) tap.weight = float(double(tap.weight) / sum);
}

// A Gaussian's taps for a line of `length` pixels whose ends mirror: the line then repeats every 2
// * length, and taps further out than that fold onto nearer ones.
std::vector<float> mirrored_gaussian(int length, double deviation) {
  const int period = 2 * length, reach = int(std::ceil(4 * deviation));
  std::vector<double> folded(std::size_t(std::min(period, 2 * reach + 1)));
  const int origin = period <= 2 * reach ? 0 : reach;  // where offset 0 stands
  double sum = 0;
  for (int i = -reach; i <= reach; ++i) {
    const double weight = std::exp(-0.5 * i * i / (deviation * deviation));
    folded[std::size_t(((i + origin) % period + period) % period)] += weight;
    sum += weight;
  }
  std::vector<float> taps;
  for (const double weight : folded) taps.push_back(float(weight / sum));
  return taps;
}

// Along one line of pixels `stride` apart, in place.
void blur_line(float* line, int length, std::ptrdiff_t stride, const std::vector<float>& taps) {
  const int period = 2 * length, count = int(taps.size());
  const int origin = count == period ? 0 : count / 2;
  std::vector<float> mirrored(std::size_t(period + count));
  for (int i = 0; i < period + count; ++i) {
    const int at = ((i - origin) % period + period) % period;
    mirrored[std::size_t(i)] = line[(at < length ? at : period - 1 - at) * stride];
  }
  for (int x = 0; x < length; ++x) {
    float sum = 0;
    for (int m = 0; m < count; ++m) sum += taps[std::size_t(m)] * mirrored[std::size_t(x + m)];
    line[x * stride] = sum;
  }
}

// The square map of the diamond-square algorithm, with indices that wrap around.
class PlasmaMap {
 public:
  PlasmaMap(int side, RandomStream& random)
      : side_(side), random_(random), values_(std::size_t(side) * std::size_t(side)) {}

  void fill(double decay) {
    double amplitude = 100;
    for (int step = side_; step >= 2; step /= 2, amplitude /= decay) {
      const int half = step / 2;
      for_each(half, half, step, [&](int x, int y) {  // centres of squares
        set(x, y,
            at(x - half, y - half) + at(x + half, y - half) + at(x - half, y + half) +
                at(x + half, y + half),
            amplitude);
      });
      const auto diamond = [&](int x, int y) {
        set(x, y, at(x - half, y) + at(x + half, y) + at(x, y - half) + at(x, y + half), amplitude);
      };
      for_each(half, 0, step, diamond);
      for_each(0, half, step, diamond);
    }
  }

  double at(int x, int y) const { return values_[index(x, y)]; }

 private:
  std::size_t index(int x, int y) const {
    const int mask = side_ - 1;  // the side is a power of two
    return std::size_t(y & mask) * std::size_t(side_) + std::size_t(x & mask);
  }

  // The amplitude enters twice, as in the published generator, so that it falls by decay^2 per
  // level.
  void set(int x, int y, double sum, double amplitude) {
    values_[index(x, y)] = sum / 4 + amplitude * random_.uniform(-amplitude, amplitude);
  }

  template <class Visit>
  void for_each(int first_x, int first_y, int step, Visit visit) {
    for (int y = first_y; y < side_; y += step) {
      for (int x = first_x; x < side_; x += step) visit(x, y);
    }
  }

  int side_;
  RandomStream& random_;
  std::vector<double> values_;
};

}  // namespace

FloatImage to_float(const Image& image) {
  FloatImage out(image.width, image.height, 3);
  for (std::size_t i = 0; i < image.pixels.size(); ++i)
    out.values[i] = float(image.pixels[i]) / 255.0F;
  return out;
}

Image to_image(const FloatImage& image) {
  Image out(image.width, image.height);
  for (std::size_t i = 0; i < out.pixels.size(); ++i) {
    out.pixels[i] = std::uint8_t(std::lround(std::clamp(image.values[i], 0.0F, 1.0F) * 255.0F));
  }
  return out;
}

void sample(const FloatImage& image, float x, float y, float* out) {
  x = std::clamp(x, 0.0F, float(image.width - 1));
  y = std::clamp(y, 0.0F, float(image.height - 1));
  const int x0 = int(x), y0 = int(y);
  const float fx = x - float(x0), fy = y - float(y0);
  const float *a = image.at(x0, y0), *b = image.nearest(x0 + 1, y0);
  const float *c = image.nearest(x0, y0 + 1), *d = image.nearest(x0 + 1, y0 + 1);
  for (int i = 0; i < image.channels; ++i) {
    const float top = a[i] + (b[i] - a[i]) * fx, bottom = c[i] + (d[i] - c[i]) * fx;
    out[i] = top + (bottom - top) * fy;
  }
}

FloatImage filter(const FloatImage& image, const std::vector<Tap>& taps) {
  FloatImage out(image.width, image.height, image.channels);
  for (int y = 0; y < image.height; ++y) {
    for (const Tap& tap : taps) {
      for (int x = 0; x < image.width; ++x) {
        const float* source = image.nearest(x + tap.dx, y + tap.dy);
        float* target = out.at(x, y);
        for (int c = 0; c < image.channels; ++c) target[c] += tap.weight * source[c];
      }
    }
  }
  return out;
}

FloatImage gaussian_blur(const FloatImage& image, double deviation) {
  if (deviation <= 0) return image;
  FloatImage out = image;
  const auto row = std::ptrdiff_t(image.width) * image.channels;
  const std::vector<float> across = mirrored_gaussian(image.width, deviation);
  for (int y = 0; y < image.height; ++y) {
    for (int c = 0; c < image.channels; ++c) {
      blur_line(out.at(0, y) + c, image.width, image.channels, across);
    }
  }
  const std::vector<float> down = mirrored_gaussian(image.height, deviation);
  for (std::ptrdiff_t i = 0; i < row; ++i)
    blur_line(out.values.data() + i, image.height, row, down);
  return out;
}

std::vector<Tap> disc_taps(double radius, double softness) {
  std::vector<Tap> taps;
  const double edge = std::max(softness, 1e-3);
  const int reach = int(std::ceil(radius + edge));
  for (int dy = -reach; dy <= reach; ++dy) {
    for (int dx = -reach; dx <= reach; ++dx) {
      const double inside = (radius - std::hypot(dx, dy)) / edge + 0.5;
      if (inside > 0) taps.push_back({dx, dy, float(std::min(inside, 1.0))});
    }
  }
  normalise(taps);
  return taps;
}

std::vector<Tap> motion_taps(double radius, double deviation, double angle) {
  std::vector<Tap> taps;
  const int length = 2 * int(std::ceil(radius)) + 1;
  for (int i = 0; i < length; ++i) {
    const auto weight = float(std::exp(-0.5 * i * i / (deviation * deviation)));
    taps.push_back(
        {int(std::lround(i * std::cos(angle))), int(std::lround(i * std::sin(angle))), weight});
  }
  normalise(taps);
  return taps;
}

FloatImage zoom(const FloatImage& image, double factor) {
  FloatImage out(image.width, image.height, image.channels);
  const double cx = (image.width - 1) / 2.0, cy = (image.height - 1) / 2.0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      sample(image, float(cx + (x - cx) / factor), float(cy + (y - cy) / factor), out.at(x, y));
    }
  }
  return out;
}

FloatImage plasma(int width, int height, double decay, RandomStream& random) {
  const int side = int(std::bit_ceil(unsigned(std::max({width, height, 2}))));
  PlasmaMap map(side, random);
  map.fill(decay);
  FloatImage out(width, height, 1);
  double low = map.at(0, 0), high = low;
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      low = std::min(low, map.at(x, y));
      high = std::max(high, map.at(x, y));
    }
  }
  const double range = std::max(high - low, 1e-12);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) *out.at(x, y) = float((map.at(x, y) - low) / range);
  }
  return out;
}

}  // namespace addp
