#include <algorithm>
#include <cmath>

#include "data/shapes/shape_scene.h"
#include "data/shapes/shape_texture.h"

namespace addp {
namespace {

constexpr Rgb kWhite{1, 1, 1};
constexpr Rgb kBlack{0, 0, 0};

struct Canvas {
  int size;
  std::vector<Rgb> pixels;

  float pixel() const { return 1.0F / static_cast<float>(size); }
  Rgb& at(int x, int y) { return pixels[std::size_t(y) * std::size_t(size) + std::size_t(x)]; }
};

TextureKind random_texture(RandomStream& random, bool ground) {
  using enum TextureKind;
  static constexpr TextureKind kGround[] = {kCloud,   kCloud,  kGradient, kGradient,
                                            kStripes, kMarble, kChecker,  kDots};
  static constexpr TextureKind kShape[] = {kCloud, kGradient, kGradient, kStripes, kDots, kMarble};
  return ground ? kGround[random.integer(0, std::size(kGround) - 1)]
                : kShape[random.integer(0, std::size(kShape) - 1)];
}

// Bright and saturated, and far enough from what is there already that the outline can be seen.
Rgb shape_colour(RandomStream& random, const std::vector<Rgb>& taken) {
  Rgb best;
  float best_distance = -1;
  for (int attempt = 0; attempt < 12; ++attempt) {
    const Rgb colour = from_hsv(static_cast<float>(random.uniform()),
                                static_cast<float>(random.uniform(0.55, 0.95)),
                                static_cast<float>(random.uniform(0.6, 1.0)));
    float nearest = 2;
    for (const Rgb& other : taken) nearest = std::min(nearest, colour_distance(colour, other));
    if (nearest > best_distance) {
      best = colour;
      best_distance = nearest;
    }
    if (best_distance > 0.3F) break;
  }
  return best;
}

// Plain pictures have four colours on one ground, so that a small codebook holds every corner.
constexpr Rgb kPlainGround{0.88F, 0.9F, 0.92F};

Rgb plain_colour(RandomStream& random) {
  return from_hsv(static_cast<float>(random.integer(0, 3)) / 4, 0.8F, 0.9F);
}

// Calls visit(x, y, u, v) for the pixels within `reach` of the shape's centre.
template <class Visit>
void around(const PlacedShape& shape, float reach, int size, float dx, float dy, Visit&& visit) {
  const auto edge = [&](float centre, float sign) {
    return std::clamp(
        static_cast<int>(std::floor((centre + sign * reach) * static_cast<float>(size))), -1, size);
  };
  const int left = std::max(edge(shape.x + dx, -1), 0),
            right = std::min(edge(shape.x + dx, 1), size - 1);
  const int top = std::max(edge(shape.y + dy, -1), 0),
            bottom = std::min(edge(shape.y + dy, 1), size - 1);
  for (int y = top; y <= bottom; ++y) {
    for (int x = left; x <= right; ++x) {
      visit(x, y, (static_cast<float>(x) + 0.5F) / static_cast<float>(size),
            (static_cast<float>(y) + 0.5F) / static_cast<float>(size));
    }
  }
}

void paint_shadow(Canvas& canvas, const PlacedShape& shape) {
  const float offset = 0.12F * shape.radius, soft = 0.18F * shape.radius;
  around(shape, shape.radius + soft, canvas.size, offset, offset,
         [&](int x, int y, float u, float v) {
           const float depth = (soft - shape.distance(u - offset, v - offset)) / (2 * soft);
           const float shade = 0.45F * std::clamp(depth, 0.0F, 1.0F);
           canvas.at(x, y) = blend(canvas.at(x, y), kBlack, shade);
         });
}

// Fill with light from the top left, a dark rim, and edges softened over one pixel.
void paint_shape(Canvas& canvas, const PlacedShape& shape, const Texture& texture, int number,
                 std::vector<int>& owner) {
  const float pixel = canvas.pixel();
  const float rim = std::max(0.07F * shape.radius, pixel);
  around(shape, shape.radius + 2 * pixel, canvas.size, 0, 0, [&](int x, int y, float u, float v) {
    const float distance = shape.distance(u, v);
    const float cover = std::clamp(0.5F - distance / pixel, 0.0F, 1.0F);
    if (cover <= 0) return;
    Rgb colour = texture.at(u, v, pixel);
    const float light = -((u - shape.x) + (v - shape.y)) / shape.radius;
    colour = light > 0 ? blend(colour, kWhite, 0.16F * std::min(light, 1.5F))
                       : blend(colour, kBlack, 0.16F * std::min(-light, 1.5F));
    const float at_rim = std::clamp((distance + rim) / rim, 0.0F, 1.0F);
    colour = blend(colour, kBlack, 0.45F * at_rim * at_rim);
    canvas.at(x, y) = blend(canvas.at(x, y), colour, cover);
    if (cover >= 0.5F) owner[std::size_t(y) * std::size_t(canvas.size) + std::size_t(x)] = number;
  });
}

void paint_ground(Canvas& canvas, const Texture& texture) {
  for (int y = 0; y < canvas.size; ++y) {
    for (int x = 0; x < canvas.size; ++x) {
      const float u = (static_cast<float>(x) + 0.5F) * canvas.pixel();
      const float v = (static_cast<float>(y) + 0.5F) * canvas.pixel();
      const float corner = std::hypot(u - 0.5F, v - 0.5F);
      canvas.at(x, y) = texture.at(u, v, canvas.pixel()) * (1.04F - 0.35F * corner * corner);
    }
  }
}

std::uint8_t to_byte(float value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0F, 1.0F) * 255 + 0.5F);
}

void paint_textured(Canvas& canvas, const ShapeScene& scene, RandomStream& random,
                    std::vector<int>& owner) {
  const Rgb ground =
      from_hsv(static_cast<float>(random.uniform()), static_cast<float>(random.uniform(0.1, 0.5)),
               static_cast<float>(random.uniform(0.3, 0.9)));
  const auto frequency = [&](double low, double high) {
    return static_cast<float>(random.uniform(low, high));
  };
  const TextureKind ground_kind = random_texture(random, true);
  paint_ground(canvas, Texture(random, ground_kind, ground, 0.35F, frequency(3, 9)));
  std::vector<Rgb> taken{ground};
  for (std::size_t i = 0; i < scene.shapes.size(); ++i) {
    const Rgb colour = shape_colour(random, taken);
    taken.push_back(colour);
    const TextureKind kind = random_texture(random, false);
    const Texture texture(random, kind, colour, 0.4F, frequency(8, 16));
    paint_shadow(canvas, scene.shapes[i]);
    paint_shape(canvas, scene.shapes[i], texture, static_cast<int>(i), owner);
  }
}

void paint_plain(Canvas& canvas, const ShapeScene& scene, RandomStream& random,
                 std::vector<int>& owner) {
  const auto flat = [&](Rgb colour) {
    return Texture(random, TextureKind::kGradient, colour, 0, 1);
  };
  for (Rgb& pixel : canvas.pixels) pixel = kPlainGround;
  for (std::size_t i = 0; i < scene.shapes.size(); ++i) {
    paint_shape(canvas, scene.shapes[i], flat(plain_colour(random)), static_cast<int>(i), owner);
  }
}

}  // namespace

std::vector<int> paint_scene(const ShapeScene& scene, RandomStream random, int size, bool plain,
                             Image& image) {
  Canvas canvas{size, std::vector<Rgb>(std::size_t(size) * std::size_t(size))};
  std::vector<int> owner(canvas.pixels.size(), -1);
  plain ? paint_plain(canvas, scene, random, owner) : paint_textured(canvas, scene, random, owner);
  image = Image(size, size);
  for (std::size_t i = 0; i < canvas.pixels.size(); ++i) {
    image.pixels[3 * i] = to_byte(canvas.pixels[i].r);
    image.pixels[3 * i + 1] = to_byte(canvas.pixels[i].g);
    image.pixels[3 * i + 2] = to_byte(canvas.pixels[i].b);
  }
  return owner;
}

}  // namespace addp
