#include "eval/recognition/instance_matching.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "eval/recognition/coco_ap.h"

namespace addp {
namespace {

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

struct PictureThings {
  std::vector<const CocoAnnotation*> truth, detections;
};

InstanceCounts match_picture(const CocoImage& image, PictureThings things,
                             const MatchingOptions& options) {
  std::stable_sort(
      things.detections.begin(), things.detections.end(),
      [](const CocoAnnotation* a, const CocoAnnotation* b) { return a->score > b->score; });
  std::vector<Rle> shapes;
  for (const CocoAnnotation* one : things.truth) shapes.push_back(mask_of(*one, image));
  std::vector<char> taken(shapes.size());
  InstanceCounts counts;
  for (const CocoAnnotation* detection : things.detections) {
    const Rle shape = mask_of(*detection, image);
    double best = options.iou;
    std::ptrdiff_t match = -1;
    bool in_crowd = false;
    for (std::size_t g = 0; g < shapes.size(); ++g) {
      const bool crowd = things.truth[g]->crowd;
      if (taken[g] || detection->category_id != things.truth[g]->category_id) continue;
      const double overlap = rle_iou(shape, shapes[g], crowd);
      if (crowd) {
        in_crowd = in_crowd || overlap >= options.iou;
      } else if (overlap >= best) {
        best = overlap;
        match = static_cast<std::ptrdiff_t>(g);
      }
    }
    if (match >= 0) {
      taken[static_cast<std::size_t>(match)] = 1;
      ++counts.found;
    } else if (!in_crowd) {
      ++counts.invented;
    }
  }
  for (std::size_t g = 0; g < shapes.size(); ++g) {
    counts.missed += !taken[g] && !things.truth[g]->crowd;
  }
  return counts;
}

}  // namespace

double InstanceCounts::accuracy() const { return share(found, found + invented + missed); }
double InstanceCounts::precision() const { return share(found, found + invented); }
double InstanceCounts::recall() const { return share(found, found + missed); }

InstanceCounts match_instances(const CocoFile& truth, const std::vector<CocoAnnotation>& detections,
                               const MatchingOptions& options) {
  std::map<std::int64_t, PictureThings> pictures;
  for (const CocoImage& image : truth.images) pictures[image.id];
  for (const CocoAnnotation& one : truth.annotations) pictures[one.image_id].truth.push_back(&one);
  for (const CocoAnnotation& one : detections) {
    if (one.score < options.score || truth.class_of(one.category_id) < 0) continue;
    const auto place = pictures.find(one.image_id);
    if (place == pictures.end()) {
      throw DataError("a detection is of picture {}, which {} does not list", one.image_id,
                      truth.name);
    }
    place->second.detections.push_back(&one);
  }
  InstanceCounts sum;
  for (const CocoImage& image : truth.images) {
    const InstanceCounts one = match_picture(image, std::exchange(pictures[image.id], {}), options);
    sum.found += one.found;
    sum.invented += one.invented;
    sum.missed += one.missed;
  }
  return sum;
}

}  // namespace addp
