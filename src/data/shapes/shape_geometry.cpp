#include "data/shapes/shape_geometry.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace addp {
namespace {

struct Point {
  float x, y;
};

constexpr float kPi = std::numbers::pi_v<float>;

// Distance to the nearest edge; the sign from the number of edges that a ray to the right crosses.
float polygon_distance(std::span<const Point> corners, Point p) {
  float nearest = 1e9F;
  bool inside = false;
  for (std::size_t i = 0, j = corners.size() - 1; i < corners.size(); j = i++) {
    const Point a = corners[j], b = corners[i];
    const float ex = b.x - a.x, ey = b.y - a.y, wx = p.x - a.x, wy = p.y - a.y;
    const float along = std::clamp((wx * ex + wy * ey) / (ex * ex + ey * ey), 0.0F, 1.0F);
    const float dx = wx - ex * along, dy = wy - ey * along;
    nearest = std::min(nearest, dx * dx + dy * dy);
    if ((a.y > p.y) != (b.y > p.y) && p.x < ex * (p.y - a.y) / ey + a.x) inside = !inside;
  }
  return inside ? -std::sqrt(nearest) : std::sqrt(nearest);
}

std::vector<Point> regular_corners(int count, float outer, float inner) {
  std::vector<Point> corners;
  for (int i = 0; i < count; ++i) {
    const float angle = 2 * kPi * static_cast<float>(i) / static_cast<float>(count) - kPi / 2;
    const float radius = i % 2 == 0 ? outer : inner;
    corners.push_back({radius * std::cos(angle), radius * std::sin(angle)});
  }
  return corners;
}

std::vector<Point> cross_corners() {
  const float arm = 0.3F, end = 0.92F;
  return {{-arm, -end}, {arm, -end}, {arm, -arm}, {end, -arm}, {end, arm},   {arm, arm},
          {arm, end},   {-arm, end}, {-arm, arm}, {-end, arm}, {-end, -arm}, {-arm, -arm}};
}

// The well-known curve x = 16 sin^3 t, y = 13 cos t - 5 cos 2t - 2 cos 3t - cos 4t.
std::vector<Point> heart_corners() {
  std::vector<Point> corners;
  for (int i = 0; i < 32; ++i) {
    const float t = 2 * kPi * static_cast<float>(i) / 32;
    const float x = 16 * std::pow(std::sin(t), 3.0F);
    const float y = 13 * std::cos(t) - 5 * std::cos(2 * t) - 2 * std::cos(3 * t) - std::cos(4 * t);
    corners.push_back({x / 17.5F, -(y + 2.5F) / 17.5F});
  }
  return corners;
}

}  // namespace

const std::vector<std::string>& shape_kind_names() {
  static const std::vector<std::string> names{"circle", "ring",  "square", "triangle",
                                              "star",   "cross", "heart",  "crescent"};
  return names;
}

float shape_distance(ShapeKind kind, float x, float y) {
  static const std::vector<Point> triangle = regular_corners(3, 0.88F, 0.88F);
  static const std::vector<Point> star = regular_corners(10, 0.97F, 0.44F);
  static const std::vector<Point> cross = cross_corners();
  static const std::vector<Point> heart = heart_corners();
  constexpr float kRound = 0.06F;  // corners are rounded a little
  const float radius = std::hypot(x, y);
  switch (kind) {
    case ShapeKind::kCircle:
      return radius - 0.9F;
    case ShapeKind::kRing:
      return std::abs(radius - 0.68F) - 0.24F;
    case ShapeKind::kSquare: {
      const float dx = std::abs(x) - 0.64F, dy = std::abs(y) - 0.64F;
      return std::hypot(std::max(dx, 0.0F), std::max(dy, 0.0F)) + std::min(std::max(dx, dy), 0.0F) -
             0.08F;
    }
    case ShapeKind::kTriangle:
      return polygon_distance(triangle, {x, y}) - kRound;
    case ShapeKind::kStar:
      return polygon_distance(star, {x, y}) - 0.02F;
    case ShapeKind::kCross:
      return polygon_distance(cross, {x, y}) - kRound;
    case ShapeKind::kHeart:
      return polygon_distance(heart, {x, y}) - 0.02F;
    case ShapeKind::kCrescent:
      return std::max(std::hypot(x + 0.06F, y) - 0.9F, 0.85F - std::hypot(x - 0.56F, y));
  }
  return 1;
}

float largest_turn(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::kHeart:
      return 0.5F;
    case ShapeKind::kTriangle:
    case ShapeKind::kCross:
    case ShapeKind::kSquare:
      return 0.7F;
    default:
      return kPi;
  }
}

}  // namespace addp
