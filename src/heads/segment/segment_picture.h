// From a picture of any size to the class of every pixel: resized, in windows where it is larger
// than the training crops, mirrored and at several scales if asked for.
#pragma once

#include "heads/segment/segmenter.h"
#include "image/image.h"

namespace addp {

struct LabelingOptions {
  std::int64_t short_side = 0;       // the picture is resized to it first; 0: left as it is
  std::vector<double> scales = {1};  // times that size; the probabilities are averaged
  bool flip = false;                 // the mirrored picture counts, too
  double overlap = 1.0 / 3;          // of neighbouring windows, as a share of their side
};

// Probabilities [classes, H, W] at the picture's size. A DataError where that would take gigabytes.
Tensor class_probabilities(Segmenter& segmenter, const Image& picture,
                           const LabelingOptions& options);
// The most probable class of every pixel.
GrayImage segment_picture(Segmenter& segmenter, const Image& picture,
                          const LabelingOptions& options);

// Where windows of side `window` begin along `length` pixels: evenly spread, the first at 0, the
// last at the end, `overlap` of a window or more shared by neighbours.
std::vector<std::int64_t> window_starts(std::int64_t length, std::int64_t window, double overlap);

}  // namespace addp
