// Average precision of detections as COCO defines it: the twelve figures of pycocotools' summary,
// for boxes and for masks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/coco/coco.h"

namespace addp {

enum class CocoTask { kBox, kMask };

// In the order that pycocotools prints them. -1 stands where there is no ground truth of that kind.
inline constexpr std::array<const char*, 12> kCocoFigureNames = {
    "AP",   "AP50",  "AP75",   "AP small", "AP medium", "AP large",
    "AR 1", "AR 10", "AR 100", "AR small", "AR medium", "AR large"};

struct CocoFigures {
  std::array<double, 12> values{};
  // AP of each category of the file, in its order; -1 without ground truth.
  std::vector<double> class_ap;

  double ap() const { return values[0]; }
};

// An annotation's mask at its picture's size; its box where it has no mask. A mask of another size
// is a DataError.
Rle mask_of(const CocoAnnotation& annotation, const CocoImage& image);

// Detections of a picture that the truth does not list are a DataError; those of unlisted
// categories are left out, as pycocotools does. A mask is compared as runs; where an annotation has
// a box only (crowds of reduced files), the box stands for the mask.
CocoFigures evaluate_coco(const CocoFile& truth, const std::vector<CocoAnnotation>& detections,
                          CocoTask task);

}  // namespace addp
