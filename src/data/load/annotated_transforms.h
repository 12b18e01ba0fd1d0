// Transforms of pictures together with their label maps or instances: random scale, crop,
// flip and turn.
#pragma once

#include "data/load/loader.h"
#include "image/resize/resize.h"

namespace addp {

// How a picture of w x h goes into a square: scaled, then a part of it (all of it where it is
// smaller) lies at the top left, perhaps mirrored; the rest is empty.
struct Placement {
  double scale = 1;           // result pixels per picture pixel
  double left = 0, top = 0;   // of the part, in pixels of the scaled picture
  int width = 0, height = 0;  // of the part, in pixels of the result
  bool mirror = false;
  int turns = 0;  // of the square, by quarters

  // The part, in the picture's own pixels.
  Box source(int picture_width, int picture_height) const;
};

struct PlacementOptions {
  int size = 0;       // side of the square
  bool flip = true;   // half of the pictures are mirrored
  bool turn = false;  // by 0 to 3 quarter turns
};
// A random place of the scaled picture in that square.
Placement random_placement(int width, int height, double scale, const PlacementOptions& options,
                           RandomStream& random);

struct SegmentationTransformOptions {
  int size = 512;                          // side of the crops
  double scale_low = 0.5, scale_high = 2;  // of the short side, relative to `size`
  bool flip = true;
  bool turn = false;
  double max_share = 0.75;  // of one class in a crop; ten tries, then whatever comes
};

// Into item.floats and item.labels; what lies beside the picture is grey and ignored.
Transform segmentation_transform(const SegmentationTransformOptions& options);

struct DetectionTransformOptions {
  int size = 1024;
  double scale_low = 0.1, scale_high = 2;  // of the long side, relative to `size`,
  double magnify = 0;  // or, where this is above 0, of the picture, relative to this enlargement
  bool flip = true;
  bool turn = false;
  double min_side = 1;  // instances of which less is seen are left out
};

// Large-scale jitter (Ghiasi et al. 2021): into item.floats, and the instances that are seen into
// item.instances, boxes and masks in pixels of the result. Crowds are left out.
Transform detection_transform(const DetectionTransformOptions& options);

// An instance under a placement; its box has no size where nothing of it is seen.
Instance place_instance(const Instance& instance, const Placement& placement, int size);

}  // namespace addp
