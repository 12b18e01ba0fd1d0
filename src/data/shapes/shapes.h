// The procedural set `shapes`: pictures that are made, not read, so that every task runs on a
// machine with no data.
//
// On a textured ground lies one large shape near the middle, whose kind is the picture's class,
// with up to four smaller ones around it that overlap it, one another and the edge. Masks and boxes
// are those of the visible parts, as in COCO. Picture number i of a split is a function of (seed,
// split, i) alone, at every size the same scene; the classes of each eight neighbours are a
// permutation of all eight, so that the set is balanced.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/set/dataset.h"
#include "data/shapes/shape_geometry.h"

namespace addp {

struct ShapesOptions {
  int size = 64;              // pixels, both sides
  std::int64_t count = 2000;  // pictures for training
  std::int64_t val = 0;       // pictures for validation; 0: a quarter of `count`
  std::uint64_t seed = 1;
  int objects = 5;     // shapes per picture at most, the main one included
  bool plain = false;  // upright, flat, in few colours: what minutes of training can learn

  std::int64_t val_count() const { return val > 0 ? val : (count + 3) / 4; }
};

// "shapes" or "shapes:size=64,count=2000,seed=1"; a UsageError names the part that is wrong.
bool is_shapes_spec(std::string_view spec);
ShapesOptions parse_shapes_spec(std::string_view spec);

struct ShapesPicture {
  Image image;
  int class_id = 0;                 // the main shape's kind
  std::vector<Instance> instances;  // the main one first; class_id is the kind
  GrayImage labels;                 // 0 is the ground, k + 1 kind k
};

// The class alone, without drawing.
int shapes_class(const ShapesOptions& options, std::string_view split, std::int64_t index);
ShapesPicture draw_shapes(const ShapesOptions& options, std::string_view split, std::int64_t index);

}  // namespace addp
