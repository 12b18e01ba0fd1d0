// Polygon to run lengths. The rule is that of the COCO tools, pixel for pixel: the outline is drawn
// on a grid five times finer; wherever it crosses a pixel column's centre line, the column switches
// between outside and inside at that height, rounded to the next pixel centre below.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "data/coco/rle.h"

namespace addp {
namespace {

constexpr int kFine = 5;
constexpr std::int64_t kMaxOutlinePoints = std::int64_t{1} << 26;

struct FinePoint {
  int x, y;
};

// To the fine grid. The conversion truncates towards zero, which for negative coordinates is not
// rounding: the reference does the same.
std::vector<FinePoint> to_fine_grid(const Polygon& polygon) {
  std::vector<FinePoint> corners;
  corners.reserve(polygon.size() / 2 + 1);
  for (std::size_t i = 0; i + 1 < polygon.size(); i += 2) {
    const double x = polygon[i], y = polygon[i + 1];
    if (!(std::abs(x) <= kMaxPolygonCoordinate) || !(std::abs(y) <= kMaxPolygonCoordinate)) {
      throw DataError("a polygon has the impossible corner ({}, {})", x, y);
    }
    corners.push_back({static_cast<int>(kFine * x + 0.5), static_cast<int>(kFine * y + 0.5)});
  }
  corners.push_back(corners.front());
  return corners;
}

// Calls visit(point) for each fine point from a to b. A line is computed from its lower end in its
// longer direction, so that both directions give the same points.
template <class Visit>
void draw_line(FinePoint a, FinePoint b, Visit&& visit) {
  const int dx = std::abs(b.x - a.x), dy = std::abs(b.y - a.y);
  const bool along_x = dx >= dy;
  const bool backwards = along_x ? a.x > b.x : a.y > b.y;
  if (backwards) std::swap(a, b);
  const int length = std::max(dx, dy);
  const double slope =
      length == 0 ? 0.0 : static_cast<double>(along_x ? b.y - a.y : b.x - a.x) / length;
  for (int step = 0; step <= length; ++step) {
    const int t = backwards ? length - step : step;
    if (along_x) {
      visit(FinePoint{a.x + t, static_cast<int>(a.y + slope * t + 0.5)});
    } else {
      visit(FinePoint{static_cast<int>(a.x + slope * t + 0.5), a.y + t});
    }
  }
}

// Positions in column order at which the inside begins or ends.
std::vector<std::uint32_t> crossings(const Polygon& polygon, int height, int width) {
  const std::vector<FinePoint> corners = to_fine_grid(polygon);
  std::int64_t points = 0;
  for (std::size_t i = 0; i + 1 < corners.size(); ++i) {
    points += std::max(std::abs(corners[i + 1].x - corners[i].x),
                       std::abs(corners[i + 1].y - corners[i].y)) +
              1;
  }
  if (points > kMaxOutlinePoints) throw DataError("the outline of a polygon is impossibly long");

  std::vector<std::uint32_t> found;
  FinePoint last = corners.front();
  const auto visit = [&](FinePoint now) {
    const FinePoint before = std::exchange(last, now);
    if (now.x == before.x) return;
    // The column whose centre line lies between the two fine columns, if there is one.
    const double column = (std::min(now.x, before.x) + 0.5) / kFine - 0.5;
    if (std::floor(column) != column || column < 0 || column > width - 1) return;
    const double row = (std::min(now.y, before.y) + 0.5) / kFine - 0.5;
    const double clamped = std::ceil(std::clamp(row, 0.0, static_cast<double>(height)));
    found.push_back(static_cast<std::uint32_t>(column) * static_cast<std::uint32_t>(height) +
                    static_cast<std::uint32_t>(clamped));
  };
  for (std::size_t i = 0; i + 1 < corners.size(); ++i) draw_line(corners[i], corners[i + 1], visit);
  return found;
}

Rle from_polygon(const Polygon& polygon, int height, int width) {
  std::vector<std::uint32_t> marks = crossings(polygon, height, width);
  marks.push_back(static_cast<std::uint32_t>(height) * static_cast<std::uint32_t>(width));
  std::sort(marks.begin(), marks.end());
  Rle out{height, width, {}};
  // Two switches at one place cancel: the run between them is empty and its neighbours join.
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const std::uint32_t run = marks[i] - at;
    at = marks[i];
    if (i == 0 || run > 0) {
      out.counts.push_back(run);
    } else if (++i < marks.size()) {
      out.counts.back() += marks[i] - at;
      at = marks[i];
    }
  }
  return out;
}

}  // namespace

Rle rle_from_polygons(std::span<const Polygon> polygons, int height, int width) {
  if (height <= 0 || width <= 0 || std::int64_t{height} * width > kMaxMaskPixels) {
    throw DataError("a mask of {} x {} pixels is impossible", width, height);
  }
  Rle out{height, width, {static_cast<std::uint32_t>(height) * static_cast<std::uint32_t>(width)}};
  for (const Polygon& polygon : polygons) {
    if (polygon.size() < 6 || polygon.size() % 2 != 0) {
      throw DataError("a polygon of {} numbers is none; it needs three corners or more",
                      polygon.size());
    }
    const Rle one = from_polygon(polygon, height, width);
    out = &polygon == &polygons.front() ? one : rle_merge(out, one, RleMerge::kUnion);
  }
  return out;
}

}  // namespace addp
