#include <algorithm>
#include <cmath>
#include <numbers>

#include "data/shapes/shape_scene.h"

namespace addp {
namespace {

constexpr int kPlanGrid = 32;  // visibility is judged on a grid of this many points per side
constexpr double kMainVisible = 0.7, kOtherVisible = 0.45;
constexpr int kPlaceTries = 12;

// For each shape the share of its area that is seen: neither covered nor beyond the edge.
std::vector<double> visible_shares(const std::vector<PlacedShape>& shapes) {
  std::vector<double> total(shapes.size()), seen(shapes.size());
  const int margin = kPlanGrid / 2;
  for (int j = -margin; j < kPlanGrid + margin; ++j) {
    for (int i = -margin; i < kPlanGrid + margin; ++i) {
      const float u = (static_cast<float>(i) + 0.5F) / kPlanGrid;
      const float v = (static_cast<float>(j) + 0.5F) / kPlanGrid;
      const bool inside = i >= 0 && j >= 0 && i < kPlanGrid && j < kPlanGrid;
      bool covered = false;
      for (std::size_t k = shapes.size(); k-- > 0;) {
        const float dx = u - shapes[k].x, dy = v - shapes[k].y;
        if (dx * dx + dy * dy > shapes[k].radius * shapes[k].radius) continue;
        if (shapes[k].distance(u, v) > 0) continue;
        total[k] += 1;
        if (inside && !covered) seen[k] += 1;
        covered = true;
      }
    }
  }
  for (std::size_t k = 0; k < shapes.size(); ++k) seen[k] /= std::max(total[k], 1.0);
  return seen;
}

float uniform(RandomStream& random, double low, double high) {
  return static_cast<float>(random.uniform(low, high));
}

PlacedShape random_shape(RandomStream& random, ShapeKind kind, double smallest, double largest) {
  PlacedShape shape;
  shape.kind = kind;
  shape.radius = uniform(random, smallest, largest);
  const float turn = uniform(random, -largest_turn(kind), largest_turn(kind));
  shape.cosine = std::cos(turn);
  shape.sine = std::sin(turn);
  return shape;
}

PlacedShape main_shape(RandomStream& random, ShapeKind kind) {
  PlacedShape shape = random_shape(random, kind, 0.26, 0.36);
  shape.x = uniform(random, 0.4, 0.6);
  shape.y = uniform(random, 0.4, 0.6);
  return shape;
}

PlacedShape plain_shape(RandomStream& random, ShapeKind kind) {
  PlacedShape shape;
  shape.kind = kind;
  shape.radius = uniform(random, 0.32, 0.38);
  shape.x = uniform(random, 0.47, 0.53);
  shape.y = uniform(random, 0.47, 0.53);
  return shape;
}

bool good_enough(const ShapeScene& scene) {
  const std::vector<double> shares = visible_shares(scene.shapes);
  for (std::size_t k = 0; k < shares.size(); ++k) {
    if (shares[k] < (static_cast<int>(k) == scene.main ? kMainVisible : kOtherVisible))
      return false;
  }
  return true;
}

// Beside the main shape, so that the two often overlap, or anywhere.
void place_companion(RandomStream& random, const PlacedShape& main, PlacedShape& shape) {
  if (random.chance(0.75)) {
    const float angle = uniform(random, 0, 2 * std::numbers::pi);
    const float reach = uniform(random, 0.7, 1.15) * (main.radius + shape.radius);
    shape.x = main.x + reach * std::cos(angle);
    shape.y = main.y + reach * std::sin(angle);
  } else {
    shape.x = uniform(random, 0, 1);
    shape.y = uniform(random, 0, 1);
  }
}

}  // namespace

float PlacedShape::distance(float u, float v) const {
  const float dx = (u - x) / radius, dy = (v - y) / radius;
  return radius * shape_distance(kind, cosine * dx + sine * dy, cosine * dy - sine * dx);
}

ShapeScene plan_scene(RandomStream& random, ShapeKind main_kind, int max_shapes, bool plain) {
  ShapeScene scene;
  scene.shapes.push_back(plain ? plain_shape(random, main_kind) : main_shape(random, main_kind));
  const PlacedShape main = scene.shapes.front();
  const std::int64_t companions = random.integer(std::min(1, max_shapes - 1), max_shapes - 1);
  for (std::int64_t i = 0; i < companions; ++i) {
    const auto kind = static_cast<ShapeKind>(random.integer(0, kShapeKinds - 1));
    PlacedShape shape = random_shape(random, kind, 0.11, 0.19);
    const bool behind = random.chance(0.5);
    for (int attempt = 0; attempt < kPlaceTries; ++attempt) {
      place_companion(random, main, shape);
      ShapeScene trial = scene;
      trial.shapes.insert(behind ? trial.shapes.begin() : trial.shapes.end(), shape);
      trial.main += behind ? 1 : 0;
      if (!good_enough(trial)) continue;
      scene = std::move(trial);
      break;
    }
  }
  return scene;
}

}  // namespace addp
