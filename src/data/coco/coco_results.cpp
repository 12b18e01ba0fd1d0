#include "data/coco/coco_results.h"

#include <algorithm>

namespace addp {
namespace {

using Json = nlohmann::json;

Json box_json(const CocoBox& box) { return {box.x, box.y, box.width, box.height}; }

Json runs_json(const Rle& runs) {
  return {{"size", {runs.height, runs.width}}, {"counts", rle_to_string(runs)}};
}

}  // namespace

Json coco_results_to_json(const std::vector<CocoAnnotation>& detections) {
  Json all = Json::array();
  for (const CocoAnnotation& detection : detections) {
    Json record = {{"image_id", detection.image_id},
                   {"category_id", detection.category_id},
                   {"score", detection.score},
                   {"bbox", box_json(detection.box)}};
    if (!detection.mask.runs.empty()) record["segmentation"] = runs_json(detection.mask.runs);
    all.push_back(std::move(record));
  }
  return all;
}

Json coco_to_json(const CocoFile& file) {
  Json json = {
      {"images", Json::array()}, {"annotations", Json::array()}, {"categories", Json::array()}};
  for (const CocoCategory& category : file.categories) {
    json["categories"].push_back({{"id", category.id}, {"name", category.name}});
  }
  for (const CocoImage& image : file.images) {
    json["images"].push_back({{"id", image.id},
                              {"file_name", image.file_name},
                              {"width", image.width},
                              {"height", image.height}});
  }
  for (const CocoAnnotation& annotation : file.annotations) {
    Json record = {{"id", annotation.id},
                   {"image_id", annotation.image_id},
                   {"category_id", annotation.category_id},
                   {"bbox", box_json(annotation.box)},
                   {"area", annotation.area},
                   {"iscrowd", annotation.crowd ? 1 : 0}};
    if (!annotation.mask.runs.empty()) record["segmentation"] = runs_json(annotation.mask.runs);
    json["annotations"].push_back(std::move(record));
  }
  return json;
}

void join_coco(const CocoFile& part, CocoFile& whole) {
  whole.images.insert(whole.images.end(), part.images.begin(), part.images.end());
  for (CocoAnnotation annotation : part.annotations) {
    annotation.id = static_cast<std::int64_t>(whole.annotations.size()) + 1;
    whole.annotations.push_back(std::move(annotation));
  }
}

void sort_coco(CocoFile& file) {
  const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
  std::sort(file.categories.begin(), file.categories.end(), by_id);
  std::sort(file.images.begin(), file.images.end(), by_id);
  std::sort(file.annotations.begin(), file.annotations.end(), by_id);
}

}  // namespace addp
