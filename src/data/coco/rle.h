// Binary masks as run lengths, the COCO way: column by column, runs of 0 and 1 in turn, 0 first.
// Results agree bit for bit with pycocotools, because AP figures of masks depend on them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "image/image.h"

namespace addp {

// COCO's own form, in pixels from the top left corner; double, because AP compares with double.
struct CocoBox {
  double x = 0, y = 0, width = 0, height = 0;

  double area() const { return width * height; }
  bool operator==(const CocoBox&) const = default;
};

// Cut at the edges of a picture; of no size if it lies outside.
CocoBox clip_box(const CocoBox& box, int width, int height);

struct Rle {
  int height = 0, width = 0;
  std::vector<std::uint32_t> counts;  // runs; they sum to height * width

  bool empty() const { return counts.empty(); }
  bool operator==(const Rle&) const = default;
};

// x0, y0, x1, y1, ... of one closed outline.
using Polygon = std::vector<double>;

// Rasters larger than this, and outlines longer, are refused: they are mistakes or attacks.
inline constexpr std::int64_t kMaxMaskPixels = std::int64_t{1} << 28;
inline constexpr double kMaxPolygonCoordinate = 1e6;

Rle rle_encode(const GrayImage& mask);  // a pixel that is not 0 belongs to the mask
GrayImage rle_decode(const Rle& mask);  // 0 and 1

// The union of the outlines' insides. A DataError says which coordinate or size is impossible.
Rle rle_from_polygons(std::span<const Polygon> polygons, int height, int width);
Rle rle_from_box(const CocoBox& box, int height, int width);

// Uncompressed counts of a file; a DataError if they do not sum to height * width.
Rle rle_from_counts(std::span<const std::int64_t> counts, int height, int width);

// The compressed text of COCO json files: six bits a character, differences to the last
// run but one.
std::string rle_to_string(const Rle& mask);
Rle rle_from_string(std::string_view text, int height, int width);

std::int64_t rle_area(const Rle& mask);
CocoBox rle_bounds(const Rle& mask);  // all zero for an empty mask

enum class RleMerge { kUnion, kIntersection };
Rle rle_merge(const Rle& a, const Rle& b, RleMerge how);

// Intersection over union; where the ground truth is a crowd, over the detection's area instead.
double rle_iou(const Rle& detection, const Rle& truth, bool crowd = false);
double box_iou(const CocoBox& detection, const CocoBox& truth, bool crowd = false);

}  // namespace addp
