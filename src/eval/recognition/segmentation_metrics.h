// The figures of semantic segmentation, from a confusion matrix over all pixels.
#pragma once

#include <vector>

#include "eval/recognition/confusion_matrix.h"

namespace addp {

struct SegmentationFigures {
  double mean_iou = 0;       // over the classes that occur in truth or prediction
  double mean_accuracy = 0;  // over the classes that occur in truth
  double pixel_accuracy = 0;
  // NaN where a class does not occur.
  std::vector<double> class_iou, class_accuracy;
};

SegmentationFigures segmentation_figures(const ConfusionMatrix& matrix);

}  // namespace addp
