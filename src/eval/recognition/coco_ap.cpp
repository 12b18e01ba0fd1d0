#include "eval/recognition/coco_ap.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "base/error.h"

namespace addp {

Rle mask_of(const CocoAnnotation& annotation, const CocoImage& image) {
  if (annotation.mask.empty()) return rle_from_box(annotation.box, image.height, image.width);
  Rle mask = coco_mask(annotation.mask, image.height, image.width);
  if (mask.height != image.height || mask.width != image.width) {
    throw DataError("a mask of {} x {} was given for picture {}, which is {} x {}", mask.width,
                    mask.height, image.id, image.width, image.height);
  }
  return mask;
}

namespace {

constexpr std::size_t kThresholds = 10;  // IoU 0.50, 0.55, ... 0.95
constexpr std::size_t kRecalls = 101;    // 0.00, 0.01, ... 1.00
constexpr std::size_t kMaxDetections = 100;
constexpr std::array<std::size_t, 3> kDetectionLimits = {1, 10, kMaxDetections};

struct AreaRange {
  double low, high;
  bool contains(double area) const { return area >= low && area <= high; }
};
// all, small, medium, large
constexpr std::array<AreaRange, 4> kAreas = {
    {{0, 1e10}, {0, 32 * 32}, {32 * 32, 96 * 96}, {96 * 96, 1e10}}};

// numpy.linspace(low, high, count)[i], to the last bit: the comparisons depend on it.
double linspace(double low, double high, std::size_t count, std::size_t i) {
  return i + 1 == count ? high : double(i) * ((high - low) / double(count - 1)) + low;
}

// The annotations of one picture and one category.
struct Cell {
  const CocoImage* image = nullptr;
  std::vector<const CocoAnnotation*> truth;
  std::vector<const CocoAnnotation*> detections;  // the 100 best, best first
};

// What one picture contributes to one category and area range.
struct ImageResult {
  std::size_t positives = 0;  // ground truth that counts
  std::vector<double> scores;
  // [threshold][detection]
  std::array<std::vector<char>, kThresholds> matched, ignored;
};

// [detection][truth]
using Overlaps = std::vector<std::vector<double>>;

template <class Shape, class Iou>
Overlaps overlaps_of(const Cell& cell, Shape shape, Iou iou) {
  using Type = std::decay_t<decltype(shape(*cell.truth.front()))>;
  std::vector<Type> truth;
  for (const auto* annotation : cell.truth) truth.push_back(shape(*annotation));
  Overlaps overlaps;
  for (const auto* detection : cell.detections) {
    const Type found = shape(*detection);
    auto& row = overlaps.emplace_back();
    for (std::size_t g = 0; g < truth.size(); ++g) {
      row.push_back(iou(found, truth[g], cell.truth[g]->crowd));
    }
  }
  return overlaps;
}

Overlaps overlaps_of(const Cell& cell, CocoTask task) {
  if (cell.truth.empty()) return {};
  if (task == CocoTask::kBox) {
    return overlaps_of(
        cell, [](const CocoAnnotation& a) { return a.box; },
        [](const CocoBox& d, const CocoBox& g, bool crowd) { return box_iou(d, g, crowd); });
  }
  return overlaps_of(
      cell, [&cell](const CocoAnnotation& a) { return mask_of(a, *cell.image); },
      [](const Rle& d, const Rle& g, bool crowd) { return rle_iou(d, g, crowd); });
}

// Finds the ground truth for one detection, or -1. `order` lists the truths that count before the
// ignored ones: a detection goes to one of the latter only if none of the former is near enough. A
// crowd can be matched again and again.
std::ptrdiff_t find_match(const std::vector<double>& overlap, const std::vector<std::size_t>& order,
                          const std::vector<char>& ignored, const std::vector<char>& taken,
                          const Cell& cell, double threshold) {
  double best = std::min(threshold, 1 - 1e-10);
  std::ptrdiff_t match = -1;
  for (const std::size_t g : order) {
    if (taken[g] && !cell.truth[g]->crowd) continue;
    if (match >= 0 && !ignored[std::size_t(match)] && ignored[g]) break;
    if (overlap[g] < best) continue;
    best = overlap[g];
    match = std::ptrdiff_t(g);
  }
  return match;
}

ImageResult evaluate_image(const Cell& cell, const Overlaps& overlaps, const AreaRange& range) {
  ImageResult result;
  std::vector<char> ignored;
  std::vector<std::size_t> order(cell.truth.size());
  for (std::size_t g = 0; g < cell.truth.size(); ++g) {
    order[g] = g;
    ignored.push_back(cell.truth[g]->crowd || !range.contains(cell.truth[g]->area));
    result.positives += !ignored.back();
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ignored[a] < ignored[b]; });
  for (const auto* detection : cell.detections) result.scores.push_back(detection->score);
  for (std::size_t t = 0; t < kThresholds; ++t) {
    const double threshold = linspace(0.5, 0.95, kThresholds, t);
    std::vector<char> taken(cell.truth.size());
    for (std::size_t d = 0; d < cell.detections.size(); ++d) {
      const std::ptrdiff_t match =
          cell.truth.empty() ? -1 : find_match(overlaps[d], order, ignored, taken, cell, threshold);
      result.matched[t].push_back(match >= 0);
      if (match >= 0) taken[std::size_t(match)] = 1;
      // What was found outside the range of areas and belongs to nothing is no mistake.
      result.ignored[t].push_back(match >= 0 ? ignored[std::size_t(match)]
                                             : !range.contains(cell.detections[d]->area));
    }
  }
  return result;
}

struct Curve {
  double recall = -1;             // the highest reached; -1: no ground truth
  std::vector<double> precision;  // at the 101 recalls
};

// Precision at fixed recalls for one category, area range, number of detections and threshold.
class CurveBuilder {
 public:
  CurveBuilder(const std::vector<ImageResult>& images, std::size_t limit) : images_(images) {
    for (std::size_t i = 0; i < images.size(); ++i) {
      positives_ += images[i].positives;
      const std::size_t count = std::min(limit, images[i].scores.size());
      for (std::size_t d = 0; d < count; ++d) order_.emplace_back(i, d);
    }
    std::stable_sort(order_.begin(), order_.end(), [&](const auto& a, const auto& b) {
      return images_[a.first].scores[a.second] > images_[b.first].scores[b.second];
    });
  }

  Curve at(std::size_t threshold) const {
    if (positives_ == 0) return {};
    std::vector<double> recall, precision;
    double right = 0, wrong = 0;
    for (const auto& [image, detection] : order_) {
      const ImageResult& result = images_[image];
      const bool counts = !result.ignored[threshold][detection];
      const bool matched = result.matched[threshold][detection];
      right += counts && matched;
      wrong += counts && !matched;
      recall.push_back(right / double(positives_));
      precision.push_back(right / (wrong + right + std::numeric_limits<double>::epsilon()));
    }
    // The curve never rises to the left of a better point.
    for (std::size_t i = precision.size(); i-- > 1;) {
      precision[i - 1] = std::max(precision[i - 1], precision[i]);
    }
    Curve curve{recall.empty() ? 0 : recall.back(), {}};
    for (std::size_t r = 0; r < kRecalls; ++r) {
      const auto found =
          std::lower_bound(recall.begin(), recall.end(), linspace(0, 1, kRecalls, r));
      curve.precision.push_back(
          found == recall.end() ? 0 : precision[std::size_t(found - recall.begin())]);
    }
    return curve;
  }

 private:
  const std::vector<ImageResult>& images_;
  std::size_t positives_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> order_;  // picture, detection
};

struct Mean {
  double sum = 0;
  std::size_t count = 0;
  void add(double value) { sum += value, ++count; }
  double value() const { return count == 0 ? -1 : sum / double(count); }
};

void add_precision(const Curve& curve, Mean& mean) {
  for (const double value : curve.precision) mean.add(value);
}

using CellKey = std::pair<int, std::int64_t>;  // class, picture

std::map<CellKey, Cell> sort_into_cells(const CocoFile& truth,
                                        const std::vector<CocoAnnotation>& detections) {
  std::map<CellKey, Cell> cells;
  for (const CocoAnnotation& annotation : truth.annotations) {
    const int category = truth.class_of(annotation.category_id);
    const CocoImage* image = truth.find_image(annotation.image_id);
    if (category < 0 || image == nullptr) continue;
    Cell& cell = cells[{category, annotation.image_id}];
    cell.image = image;
    cell.truth.push_back(&annotation);
  }
  for (const CocoAnnotation& detection : detections) {
    const CocoImage* image = truth.find_image(detection.image_id);
    if (image == nullptr) {
      throw DataError(
          "a detection is for picture {}, which {} does not list: "
          "the two files do not belong together",
          detection.image_id, truth.name);
    }
    const int category = truth.class_of(detection.category_id);
    if (category < 0) continue;
    Cell& cell = cells[{category, detection.image_id}];
    cell.image = image;
    cell.detections.push_back(&detection);
  }
  for (auto& [_, cell] : cells) {
    std::stable_sort(cell.detections.begin(), cell.detections.end(),
                     [](const auto* a, const auto* b) { return a->score > b->score; });
    if (cell.detections.size() > kMaxDetections) cell.detections.resize(kMaxDetections);
  }
  return cells;
}

// Collects the means behind the twelve figures.
class Summary {
 public:
  // The results of one category, for each range of areas.
  void add(const std::array<std::vector<ImageResult>, kAreas.size()>& results, double& class_ap) {
    Mean of_class;
    for (std::size_t area = 0; area < kAreas.size(); ++area) {
      const CurveBuilder builder(results[area], kMaxDetections);
      for (std::size_t t = 0; t < kThresholds; ++t) {
        const Curve curve = builder.at(t);
        if (curve.recall < 0) continue;
        figures_[area == 0 ? 8 : 8 + area].add(curve.recall);
        add_precision(curve, figures_[area == 0 ? 0 : 2 + area]);
        if (area != 0) continue;
        add_precision(curve, of_class);
        if (t == 0) add_precision(curve, figures_[1]);
        if (t == 5) add_precision(curve, figures_[2]);
      }
    }
    for (std::size_t limit = 0; limit < 2; ++limit) {
      const CurveBuilder builder(results[0], kDetectionLimits[limit]);
      for (std::size_t t = 0; t < kThresholds; ++t) {
        const Curve curve = builder.at(t);
        if (curve.recall >= 0) figures_[6 + limit].add(curve.recall);
      }
    }
    class_ap = of_class.value();
  }

  std::array<double, 12> values() const {
    std::array<double, 12> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = figures_[i].value();
    return out;
  }

 private:
  std::array<Mean, 12> figures_;
};

}  // namespace

CocoFigures evaluate_coco(const CocoFile& truth, const std::vector<CocoAnnotation>& detections,
                          CocoTask task) {
  const auto cells = sort_into_cells(truth, detections);
  Summary summary;
  CocoFigures figures;
  auto cell = cells.begin();
  for (std::size_t category = 0; category < truth.categories.size(); ++category) {
    std::array<std::vector<ImageResult>, kAreas.size()> results;
    for (; cell != cells.end() && cell->first.first == int(category); ++cell) {
      const Overlaps overlaps = overlaps_of(cell->second, task);
      for (std::size_t area = 0; area < kAreas.size(); ++area) {
        results[area].push_back(evaluate_image(cell->second, overlaps, kAreas[area]));
      }
    }
    summary.add(results, figures.class_ap.emplace_back());
  }
  figures.values = summary.values();
  return figures;
}

}  // namespace addp
