#include "data/coco/coco_records.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace addp {
namespace {

using Json = nlohmann::json;

const Json& field(const Json& record, const char* key) {
  const auto it = record.find(key);
  if (it == record.end()) throw BadRecord{"bad record", fmt::format("has no '{}'", key)};
  return *it;
}

std::int64_t integer_field(const Json& record, const char* key) {
  const Json& value = field(record, key);
  if (value.is_number_unsigned() && value.get<std::uint64_t>() >> 63 != 0) {
    throw BadRecord{"bad record", fmt::format("has a '{}' that is too large", key)};
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float() && std::abs(value.get<double>()) < 0x1p53 &&
      std::floor(value.get<double>()) == value.get<double>()) {
    return static_cast<std::int64_t>(value.get<double>());
  }
  throw BadRecord{"bad record", fmt::format("has a '{}' that is not a whole number", key)};
}

double number(const Json& value, const char* what) {
  if (!value.is_number())
    throw BadRecord{"bad record", fmt::format("has a {} that is no number", what)};
  const double x = value.get<double>();
  if (!std::isfinite(x)) throw BadRecord{"bad record", fmt::format("has an infinite {}", what)};
  return x;
}

CocoBox parse_box(const Json& value) {
  if (!value.is_array() || value.size() != 4) {
    throw BadRecord{"bad box", "has a bbox that is not [x, y, width, height]"};
  }
  return {number(value[0], "box"), number(value[1], "box"), number(value[2], "box"),
          number(value[3], "box")};
}

Polygon parse_polygon(const Json& part) {
  if (!part.is_array()) throw BadRecord{"bad polygon", "has a polygon that is not an array"};
  if (part.size() < 6 || part.size() % 2 != 0) {
    throw BadRecord{"bad polygon", fmt::format("has a polygon of {} numbers; three corners, six "
                                               "numbers, are the least",
                                               part.size())};
  }
  Polygon polygon;
  polygon.reserve(part.size());
  for (const Json& coordinate : part) {
    polygon.push_back(number(coordinate, "polygon corner"));
    if (std::abs(polygon.back()) > kMaxPolygonCoordinate) {
      throw BadRecord{"bad polygon", fmt::format("has a polygon corner at {}", polygon.back())};
    }
  }
  return polygon;
}

int size_number(const Json& value) {
  const double side = number(value, "mask size");
  if (side < 1 || side > 65536 || side != std::floor(side)) {
    throw BadRecord{"bad mask", fmt::format("has a mask side of {}", side)};
  }
  return static_cast<int>(side);
}

Rle parse_runs(const Json& value) {
  const Json& size = field(value, "size");
  const Json& counts = field(value, "counts");
  if (!size.is_array() || size.size() != 2)
    throw BadRecord{"bad mask", "has a mask without a size"};
  const int height = size_number(size[0]), width = size_number(size[1]);
  try {
    if (counts.is_string())
      return rle_from_string(counts.get_ref<const std::string&>(), height, width);
    if (!counts.is_array()) throw BadRecord{"bad mask", "has a mask whose counts are no runs"};
    std::vector<std::int64_t> runs;
    runs.reserve(counts.size());
    for (const Json& count : counts) {
      const double run = number(count, "mask run");
      if (run < 0 || run > static_cast<double>(kMaxMaskPixels)) {
        throw BadRecord{"bad mask", fmt::format("has a mask run of {}", run)};
      }
      runs.push_back(static_cast<std::int64_t>(run));
    }
    return rle_from_counts(runs, height, width);
  } catch (const DataError& error) {
    throw BadRecord{"bad mask", fmt::format("has a bad mask: {}", error.what())};
  }
}

// Bad polygons are left out one by one: the others and the box are still good.
CocoMask parse_mask(const Json& record, std::vector<BadRecord>& faults) {
  CocoMask mask;
  const auto it = record.find("segmentation");
  if (it == record.end() || it->is_null()) return mask;
  try {
    if (it->is_object()) {
      mask.runs = parse_runs(*it);
    } else if (!it->is_array()) {
      throw BadRecord{"bad mask", "has a segmentation that is neither polygons nor runs"};
    }
  } catch (const BadRecord& fault) {
    faults.push_back(fault);
    return mask;
  }
  if (it->is_object()) return mask;
  for (const Json& part : *it) {
    try {
      mask.polygons.push_back(parse_polygon(part));
    } catch (const BadRecord& fault) {
      faults.push_back(fault);
    }
  }
  return mask;
}

bool truth_value(const Json& record, const char* key) {
  const auto it = record.find(key);
  if (it == record.end()) return false;
  return it->is_boolean() ? it->get<bool>() : it->is_number() && it->get<double>() != 0;
}

}  // namespace

CocoCategory parse_coco_category(const Json& record) {
  const Json& name = field(record, "name");
  if (!name.is_string()) throw BadRecord{"bad record", "has a 'name' that is no text"};
  return {integer_field(record, "id"), name.get<std::string>()};
}

CocoImage parse_coco_image(const Json& record) {
  CocoImage image;
  image.id = integer_field(record, "id");
  const Json& file = field(record, "file_name");
  if (!file.is_string()) throw BadRecord{"bad record", "has a 'file_name' that is no text"};
  image.file_name = file.get<std::string>();
  const std::int64_t width = integer_field(record, "width"),
                     height = integer_field(record, "height");
  if (width < 1 || height < 1 || width > 65536 || height > 65536 ||
      width * height > kMaxMaskPixels) {
    throw BadRecord{"bad record", fmt::format("has the impossible size {} x {}", width, height)};
  }
  image.width = static_cast<int>(width);
  image.height = static_cast<int>(height);
  return image;
}

CocoAnnotation parse_coco_annotation(const Json& record, std::vector<BadRecord>& faults) {
  CocoAnnotation out;
  out.id = integer_field(record, "id");
  out.image_id = integer_field(record, "image_id");
  out.category_id = integer_field(record, "category_id");
  out.crowd = truth_value(record, "iscrowd");
  out.box = parse_box(field(record, "bbox"));
  out.mask = parse_mask(record, faults);
  const auto area = record.find("area");
  out.area = area != record.end() && !area->is_null() ? number(*area, "area") : out.box.area();
  return out;
}

CocoAnnotation parse_coco_detection(const Json& record) {
  CocoAnnotation out;
  out.image_id = integer_field(record, "image_id");
  out.category_id = integer_field(record, "category_id");
  out.score = number(field(record, "score"), "score");
  std::vector<BadRecord> faults;
  out.mask = parse_mask(record, faults);
  if (!faults.empty()) throw faults.front();
  const auto box = record.find("bbox");
  if (box != record.end()) {
    out.box = parse_box(*box);
    out.area = out.box.area();
  } else if (!out.mask.runs.empty()) {
    out.box = rle_bounds(out.mask.runs);
    out.area = static_cast<double>(rle_area(out.mask.runs));
  } else {
    throw BadRecord{"bad record", "has neither a 'bbox' nor a mask of runs"};
  }
  return out;
}

}  // namespace addp
