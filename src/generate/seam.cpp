#include "generate/seam.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace addp {
namespace {

// A colour for each pixel, and how much is known of it.
struct Known {
  std::array<float, 3> value{};
  float weight = 0;
};

struct Layer {
  int width = 0, height = 0;
  std::vector<Known> pixels;

  Layer(int w, int h) : width(w), height(h), pixels(std::size_t(w) * std::size_t(h)) {}
  std::size_t index(int x, int y) const {
    return std::size_t(y) * std::size_t(width) + std::size_t(x);
  }
  Known& at(int x, int y) { return pixels[index(x, y)]; }
  const Known& at(int x, int y) const { return pixels[index(x, y)]; }
  const Known& clamped(int x, int y) const {
    return at(std::clamp(x, 0, width - 1), std::clamp(y, 0, height - 1));
  }
};

Layer differences(const Image& made, const Image& picture, const GrayImage& hidden) {
  Layer layer(made.width, made.height);
  for (int y = 0; y < made.height; ++y) {
    for (int x = 0; x < made.width; ++x) {
      if (hidden.row(y)[x] != 0) continue;
      Known& pixel = layer.at(x, y);
      for (std::size_t c = 0; c < 3; ++c) {
        pixel.value[c] = float(picture.at(x, y)[c]) - float(made.at(x, y)[c]);
      }
      pixel.weight = 1;
    }
  }
  return layer;
}

// Half as wide and high: means of what is known.
Layer halved(const Layer& fine) {
  Layer coarse((fine.width + 1) / 2, (fine.height + 1) / 2);
  for (int y = 0; y < fine.height; ++y) {
    for (int x = 0; x < fine.width; ++x) {
      const Known& from = fine.at(x, y);
      Known& to = coarse.at(x / 2, y / 2);
      for (std::size_t c = 0; c < 3; ++c) to.value[c] += from.weight * from.value[c];
      to.weight += from.weight;
    }
  }
  for (Known& pixel : coarse.pixels) {
    if (pixel.weight == 0) continue;
    for (float& value : pixel.value) value /= pixel.weight;
    pixel.weight = std::min(pixel.weight, 1.0F);
  }
  return coarse;
}

// What is not known, from a layer of half the size that has no gaps.
void fill_gaps(Layer& fine, const Layer& coarse) {
  for (int y = 0; y < fine.height; ++y) {
    for (int x = 0; x < fine.width; ++x) {
      Known& pixel = fine.at(x, y);
      if (pixel.weight > 0) continue;
      // The nearest cell counts three times as much as its neighbour in each direction.
      const int cx = x / 2, cy = y / 2, nx = cx + (x % 2 == 0 ? -1 : 1),
                ny = cy + (y % 2 == 0 ? -1 : 1);
      const Known &nearest = coarse.clamped(cx, cy), &beside = coarse.clamped(nx, cy),
                  &above = coarse.clamped(cx, ny), &across = coarse.clamped(nx, ny);
      for (std::size_t c = 0; c < 3; ++c) {
        pixel.value[c] =
            (9 * nearest.value[c] + 3 * beside.value[c] + 3 * above.value[c] + across.value[c]) /
            16;
      }
    }
  }
}

}  // namespace

std::vector<float> depth_of(const GrayImage& hidden, int slope) {
  const int width = hidden.width, height = hidden.height;
  const int far = slope + 1;
  std::vector<int> distance(hidden.pixels.size());
  const auto at = [&](int x, int y) -> int& {
    return distance[std::size_t(y) * std::size_t(width) + std::size_t(x)];
  };
  const auto relax = [&](int x, int y, int from_x, int from_y) {
    if (from_x < 0 || from_y < 0 || from_x >= width || from_y >= height) return;  // no edge there
    at(x, y) = std::min(at(x, y), at(from_x, from_y) + 1);
  };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      at(x, y) = hidden.row(y)[x] != 0 ? far : 0;
      relax(x, y, x - 1, y);
      relax(x, y, x, y - 1);
    }
  }
  for (int y = height; y-- > 0;) {
    for (int x = width; x-- > 0;) {
      relax(x, y, x + 1, y);
      relax(x, y, x, y + 1);
    }
  }
  std::vector<float> depth(distance.size());
  for (std::size_t i = 0; i < depth.size(); ++i) depth[i] = float(distance[i]) / float(far);
  return depth;
}

void match_surroundings(Image& made, const Image& picture, const GrayImage& hidden, int reach) {
  std::vector<Layer> layers{differences(made, picture, hidden)};
  while (layers.back().width > 1 || layers.back().height > 1) {
    layers.push_back(halved(layers.back()));
  }
  if (layers.back().pixels[0].weight == 0) return;
  for (std::size_t i = layers.size() - 1; i-- > 0;) fill_gaps(layers[i], layers[i + 1]);
  const std::vector<float> depth = depth_of(hidden, reach);
  for (int y = 0; y < made.height; ++y) {
    for (int x = 0; x < made.width; ++x) {
      if (hidden.row(y)[x] == 0) continue;
      const float share = 1 - depth[std::size_t(y) * std::size_t(made.width) + std::size_t(x)];
      for (std::size_t c = 0; c < 3; ++c) {
        std::uint8_t& value = made.at(x, y)[c];
        const float matched = float(value) + share * layers[0].at(x, y).value[c];
        value = std::uint8_t(std::lround(std::clamp(matched, 0.0F, 255.0F)));
      }
    }
  }
}

}  // namespace addp
