// Reader of COCO annotation files (instances_*.json) and of COCO detection results. The
// file is parsed as a stream, one record at a time, so that memory holds what is kept and
// not the text's tree.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file/file_io.h"
#include "data/coco/rle.h"
#include "data/problem.h"

namespace addp {

struct CocoCategory {
  std::int64_t id = 0;
  std::string name;
};

struct CocoImage {
  std::int64_t id = 0;
  std::string file_name;
  int width = 0, height = 0;
};

// A mask as the file has it: polygons, runs (compressed or not), or none.
struct CocoMask {
  std::vector<Polygon> polygons;
  Rle runs;

  bool empty() const { return polygons.empty() && runs.empty(); }
};

struct CocoAnnotation {
  std::int64_t id = 0, image_id = 0, category_id = 0;
  CocoBox box;
  double area = 0;
  double score = 0;  // detections only
  bool crowd = false;
  CocoMask mask;
};

struct CocoFile {
  std::string name;
  std::vector<CocoCategory> categories;     // sorted by id: the position is the class number
  std::vector<CocoImage> images;            // sorted by id
  std::vector<CocoAnnotation> annotations;  // sorted by id; of a known picture and class
  std::vector<DataProblem> problems;        // what was left out or is odd, and why

  const CocoImage* find_image(std::int64_t id) const;
  int class_of(std::int64_t category_id) const;  // -1 if unknown
  // The other categories and what is annotated as one of them are left out. A UsageError names a
  // category that the file does not have.
  void keep_categories(const std::vector<std::string>& names);
};

struct CocoLimits {
  std::uint64_t max_records = 100'000'000;
  std::uint64_t max_problems = 100'000;  // more are counted as one
};

// A file that is not JSON, or lacks images, annotations or categories, is a DataError. A bad record
// is named in `problems` and left out; a bad polygon is left out of its annotation; a box that is
// empty or leaves the picture is named and kept as it is.
CocoFile parse_coco(ByteSpan json, const std::string& name, const CocoLimits& limits = {});
CocoFile load_coco(const std::filesystem::path& path, const CocoLimits& limits = {});

// Detections: an array of {image_id, category_id, score, bbox and/or segmentation}. A bad record is
// a DataError: a result with holes would give wrong figures. A missing box is taken from the mask.
std::vector<CocoAnnotation> parse_coco_detections(ByteSpan json, const std::string& name,
                                                  const CocoLimits& limits = {});
std::vector<CocoAnnotation> load_coco_detections(const std::filesystem::path& path,
                                                 const CocoLimits& limits = {});

// The mask as runs at the picture's size; an empty one if the annotation has none.
Rle coco_mask(const CocoMask& mask, int height, int width);

}  // namespace addp
