// How many things were found, missed and invented, at one score and one overlap: the count that
// microscopists use beside COCO's AP.
#pragma once

#include <cstdint>
#include <vector>

#include "data/coco/coco.h"

namespace addp {

struct InstanceCounts {
  std::int64_t found = 0;     // TP
  std::int64_t invented = 0;  // FP
  std::int64_t missed = 0;    // FN

  // TP / (TP + FP + FN), the threat score; 1 where there is nothing and nothing was found.
  double accuracy() const;
  double precision() const;
  double recall() const;
};

struct MatchingOptions {
  double score = 0.5;  // detections below it do not count
  double iou = 0.5;    // of the masks, that makes a detection right
};

// Each detection, best first, takes the free ground truth of its category that it overlaps most.
// All detections of a picture take part, not only its best hundred. Crowds are no single things:
// what lies mostly in one counts neither way.
InstanceCounts match_instances(const CocoFile& truth, const std::vector<CocoAnnotation>& detections,
                               const MatchingOptions& options);

}  // namespace addp
