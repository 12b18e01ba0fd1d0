// The outlines of the procedural set, as signed distances: negative inside, in units of
// the shape's radius.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

namespace addp {

enum class ShapeKind { kCircle, kRing, kSquare, kTriangle, kStar, kCross, kHeart, kCrescent };
inline constexpr int kShapeKinds = 8;

const std::vector<std::string>& shape_kind_names();

// (x, y) relative to the centre, unrotated, with y downwards; the outline lies within a
// distance of 1.
float shape_distance(ShapeKind kind, float x, float y);

// How far the shape may be turned from upright, in radians, and still be shown as people know it.
float largest_turn(ShapeKind kind);

}  // namespace addp
