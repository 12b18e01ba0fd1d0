#include "data/coco/coco.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/option/options.h"
#include "data/coco/coco_records.h"
#include "data/coco/json_records.h"

namespace addp {
namespace {

using Json = nlohmann::json;

std::string record_id(const std::string& array, const Json& record) {
  const std::string what = array == "annotations" ? "annotation"
                           : array == "images"    ? "image"
                                                  : "category";
  if (!record.is_object() || !record.contains("id")) return what + " without id";
  const std::string id = json_text(record["id"]);
  return what + " " + id.substr(0, 64);
}

class CocoParser {
 public:
  CocoParser(const std::string& name, const CocoLimits& limits) : limits_(limits) {
    file_.name = name;
  }

  CocoFile parse(ByteSpan json) {
    const std::set<std::string> arrays = read_json_records(
        json, file_.name, [this](const std::string& array, Json& record) { take(array, record); });
    for (const char* needed : {"images", "annotations", "categories"}) {
      if (!arrays.contains(needed)) {
        throw DataError("{}: has no array '{}'; a COCO file has images, annotations and categories",
                        file_.name, needed);
      }
    }
    sort_by_id(file_.categories, "category");
    sort_by_id(file_.images, "image");
    sort_by_id(file_.annotations, "annotation");
    std::erase_if(file_.annotations, [this](CocoAnnotation& a) { return !check(a); });
    if (unreported_ > 0) {
      file_.problems.push_back(
          {"more", file_.name, "", fmt::format("has {} further problems", unreported_)});
    }
    return std::move(file_);
  }

 private:
  void take(const std::string& array, const Json& record) {
    if (array != "annotations" && array != "images" && array != "categories") return;
    if (++records_ > limits_.max_records) {
      throw DataError("{}: has more than {} records", file_.name, limits_.max_records);
    }
    try {
      if (!record.is_object()) throw BadRecord{"bad record", "is not an object"};
      if (array == "categories") {
        file_.categories.push_back(parse_coco_category(record));
      } else if (array == "images") {
        file_.images.push_back(parse_coco_image(record));
      } else {
        std::vector<BadRecord> faults;
        file_.annotations.push_back(parse_coco_annotation(record, faults));
        for (const BadRecord& fault : faults) report(record_id(array, record), fault);
      }
    } catch (const BadRecord& fault) {
      report(record_id(array, record), fault);
    }
  }

  void report(std::string id, const BadRecord& fault) {
    if (file_.problems.size() >= limits_.max_problems) {
      ++unreported_;
      return;
    }
    file_.problems.push_back({fault.kind, file_.name, std::move(id), fault.text});
  }

  template <class Record>
  void sort_by_id(std::vector<Record>& records, const char* what) {
    const auto same = [](const Record& a, const Record& b) { return a.id == b.id; };
    std::stable_sort(records.begin(), records.end(),
                     [](const Record& a, const Record& b) { return a.id < b.id; });
    for (std::size_t i = 1; i < records.size(); ++i) {
      if (!same(records[i - 1], records[i])) continue;
      report(fmt::format("{} {}", what, records[i].id),
             {"double id", "occurs twice; the first one is used"});
    }
    records.erase(std::unique(records.begin(), records.end(), same), records.end());
  }

  // False for what no evaluator would count either: an unknown picture or class. Boxes are left as
  // they are, for figures must not depend on mending; a data set cuts them when it gives them out.
  bool check(CocoAnnotation& annotation) {
    const std::string id = fmt::format("annotation {}", annotation.id);
    const CocoImage* image = file_.find_image(annotation.image_id);
    if (image == nullptr) {
      report(id, {"unknown image",
                  fmt::format("is for image {}, which is not in the file", annotation.image_id)});
      return false;
    }
    if (file_.class_of(annotation.category_id) < 0) {
      report(id, {"unknown class",
                  fmt::format("has category {}, which is not one of the {} in the file",
                              annotation.category_id, file_.categories.size())});
      return false;
    }
    check_mask(annotation, *image, id);
    check_box(annotation.box, *image, id);
    return true;
  }

  void check_mask(CocoAnnotation& annotation, const CocoImage& image, const std::string& id) {
    Rle& runs = annotation.mask.runs;
    if (runs.empty() || (runs.width == image.width && runs.height == image.height)) return;
    report(id, {"bad mask", fmt::format("has a mask of {} x {} for a picture of {} x {}",
                                        runs.width, runs.height, image.width, image.height)});
    runs = {};
  }

  void check_box(const CocoBox& box, const CocoImage& image, const std::string& id) {
    constexpr double kSlack = 1.0;  // files round to whole pixels
    if (box.width <= 0 || box.height <= 0) {
      report(id, {"empty box", fmt::format("has a box of {} x {}", box.width, box.height)});
    } else if (box.x < -kSlack || box.y < -kSlack || box.x + box.width > image.width + kSlack ||
               box.y + box.height > image.height + kSlack) {
      report(id, {"box outside",
                  fmt::format("has the box [{}, {}, {}, {}], which leaves the picture of {} x {}",
                              box.x, box.y, box.width, box.height, image.width, image.height)});
    }
  }

  CocoFile file_;
  CocoLimits limits_;
  std::uint64_t records_ = 0, unreported_ = 0;
};

}  // namespace

const CocoImage* CocoFile::find_image(std::int64_t id) const {
  const auto it = std::lower_bound(images.begin(), images.end(), id,
                                   [](const CocoImage& a, std::int64_t x) { return a.id < x; });
  return it != images.end() && it->id == id ? &*it : nullptr;
}

int CocoFile::class_of(std::int64_t category_id) const {
  const auto it = std::lower_bound(categories.begin(), categories.end(), category_id,
                                   [](const CocoCategory& a, std::int64_t x) { return a.id < x; });
  if (it == categories.end() || it->id != category_id) return -1;
  return static_cast<int>(it - categories.begin());
}

void CocoFile::keep_categories(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const CocoCategory& category : categories) known.push_back(category.name);
  for (const std::string& wanted : names) {
    if (std::find(known.begin(), known.end(), wanted) != known.end()) continue;
    const auto near = nearest_name(wanted, known);
    throw UsageError("{}: has no class '{}'{}", name, wanted,
                     near ? "; did you mean '" + *near + "'?"
                          : fmt::format(": choose from {}", fmt::join(known, ", ")));
  }
  std::erase_if(categories, [&](const CocoCategory& category) {
    return std::find(names.begin(), names.end(), category.name) == names.end();
  });
  std::erase_if(annotations, [&](const CocoAnnotation& a) { return class_of(a.category_id) < 0; });
}

CocoFile parse_coco(ByteSpan json, const std::string& name, const CocoLimits& limits) {
  return CocoParser(name, limits).parse(json);
}

CocoFile load_coco(const std::filesystem::path& path, const CocoLimits& limits) {
  const MappedFile file(path);
  return parse_coco(file.bytes(), path.string(), limits);
}

std::vector<CocoAnnotation> parse_coco_detections(ByteSpan json, const std::string& name,
                                                  const CocoLimits& limits) {
  std::vector<CocoAnnotation> detections;
  const std::set<std::string> arrays =
      read_json_records(json, name, [&](const std::string& array, const Json& record) {
        if (!array.empty()) return;
        if (detections.size() >= limits.max_records) {
          throw DataError("{}: has more than {} detections", name, limits.max_records);
        }
        try {
          if (!record.is_object()) throw BadRecord{"bad record", "is not an object"};
          detections.push_back(parse_coco_detection(record));
        } catch (const BadRecord& fault) {
          throw DataError("{}: detection {} {}", name, detections.size(), fault.text);
        }
        detections.back().id = static_cast<std::int64_t>(detections.size());
      });
  if (!arrays.contains("")) {
    throw DataError(
        "{}: is not an array of detections; each is {{image_id, category_id, score, bbox}}", name);
  }
  return detections;
}

std::vector<CocoAnnotation> load_coco_detections(const std::filesystem::path& path,
                                                 const CocoLimits& limits) {
  const MappedFile file(path);
  return parse_coco_detections(file.bytes(), path.string(), limits);
}

Rle coco_mask(const CocoMask& mask, int height, int width) {
  if (!mask.polygons.empty()) return rle_from_polygons(mask.polygons, height, width);
  return mask.runs;
}

}  // namespace addp
