// COCO records as JSON, and files put together from parts.
#pragma once

#include <nlohmann/json.hpp>

#include "data/coco/coco.h"

namespace addp {

// An array of {image_id, category_id, score, bbox, segmentation}: what COCO's evaluation server and
// parse_coco_detections() read. Masks are compressed runs.
nlohmann::json coco_results_to_json(const std::vector<CocoAnnotation>& detections);
// {images, annotations, categories}, readable by parse_coco(); masks are compressed runs.
nlohmann::json coco_to_json(const CocoFile& file);

// Adds the pictures and annotations of a part; annotations are numbered anew.
void join_coco(const CocoFile& part, CocoFile& whole);
// Brings the records into the order that CocoFile promises.
void sort_coco(CocoFile& file);

}  // namespace addp
