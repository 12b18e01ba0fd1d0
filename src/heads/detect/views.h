// A picture and its mirror images, and what they agree on.
#pragma once

#include <vector>

#include "heads/detect/detector.h"
#include "image/image.h"

namespace addp {

struct Mirror {
  bool across = false, down = false;  // left to right, top to bottom
};

// The first `count` of: as it is, mirrored across, down, both ways.
std::vector<Mirror> mirrors(std::int64_t count);

Image mirrored(const Image& picture, const Mirror& mirror);
// What was found in a picture of that size, as it lies in the mirrored one, or the other way round.
RawDetections mirrored(const RawDetections& found, int width, int height, const Mirror& mirror);

// Things of one class whose boxes overlap by half or more are one thing: its score is the mean over
// all views (0 where a view has not found it), its box and mask the means of those that have. Best
// first, down to limits.score, and no more than limits.count.
RawDetections agreed(const std::vector<RawDetections>& views, const DetectorLimits& limits);

}  // namespace addp
