#include "eval/recognition/segmentation_metrics.h"

#include <cmath>
#include <limits>

namespace addp {
namespace {

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? std::numeric_limits<double>::quiet_NaN() : double(part) / double(whole);
}

double mean_of_numbers(const std::vector<double>& values) {
  double sum = 0;
  std::int64_t count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return count == 0 ? 0 : sum / double(count);
}

}  // namespace

SegmentationFigures segmentation_figures(const ConfusionMatrix& matrix) {
  SegmentationFigures figures;
  for (std::int64_t c = 0; c < matrix.classes(); ++c) {
    const std::int64_t both = matrix.at(c, c), truth = matrix.truths(c);
    figures.class_iou.push_back(ratio(both, truth + matrix.predictions(c) - both));
    figures.class_accuracy.push_back(ratio(both, truth));
  }
  figures.mean_iou = mean_of_numbers(figures.class_iou);
  figures.mean_accuracy = mean_of_numbers(figures.class_accuracy);
  figures.pixel_accuracy = matrix.total() == 0 ? 0 : ratio(matrix.correct(), matrix.total());
  return figures;
}

}  // namespace addp
