// Single records of COCO files: images, categories, annotations, detections.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/coco/coco.h"

namespace addp {

// What is wrong with a record; thrown where the record is useless, collected where it can
// still be used.
struct BadRecord {
  std::string kind, text;
};

CocoCategory parse_coco_category(const nlohmann::json& record);
CocoImage parse_coco_image(const nlohmann::json& record);
CocoAnnotation parse_coco_annotation(const nlohmann::json& record, std::vector<BadRecord>& faults);
CocoAnnotation parse_coco_detection(const nlohmann::json& record);

}  // namespace addp
