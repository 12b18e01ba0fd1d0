// Planning and painting of one picture of the procedural set.
#pragma once

#include <vector>

#include "base/random.h"
#include "data/shapes/shape_geometry.h"
#include "image/image.h"

namespace addp {

// In fractions of the picture.
struct PlacedShape {
  ShapeKind kind = ShapeKind::kCircle;
  float x = 0.5F, y = 0.5F, radius = 0.3F;
  float cosine = 1, sine = 0;  // of the turn

  // Signed distance of a point to the outline, as a fraction of the picture.
  float distance(float u, float v) const;
};

struct ShapeScene {
  std::vector<PlacedShape> shapes;  // from back to front
  int main = 0;                     // which one gives the picture its class
};

// Every shape stays visible to a good part, the main one to most of it. `plain`: the main one
// stands upright in the middle, large.
ShapeScene plan_scene(RandomStream& random, ShapeKind main_kind, int max_shapes, bool plain);

// Draws the scene and returns for every pixel the shape that is seen there, -1 for the ground.
// `plain`: without textures, in few colours.
std::vector<int> paint_scene(const ShapeScene& scene, RandomStream random, int size, bool plain,
                             Image& image);

}  // namespace addp
