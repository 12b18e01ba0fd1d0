#include "data/shapes/shapes.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/option/options.h"
#include "data/shapes/shape_geometry.h"
#include "data/shapes/shape_scene.h"

namespace addp {
namespace {

constexpr std::string_view kSpecName = "shapes";

template <class Number>
void parse_number(std::string_view key, std::string_view text, double low, double high,
                  Number& out) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() ||
      static_cast<double>(value) < low || static_cast<double>(value) > high) {
    throw UsageError("shapes: '{}={}' must be a whole number from {} to {}", key, text, low, high);
  }
  out = value;
}

void parse_flag(std::string_view key, std::string_view text, bool& out) {
  int value = 0;
  parse_number(key, text, 0, 1, value);
  out = value != 0;
}

void set_option(ShapesOptions& options, std::string_view key, std::string_view value) {
  if (key == "size") return parse_number(key, value, 16, 4096, options.size);
  if (key == "count") return parse_number(key, value, 1, 1e9, options.count);
  if (key == "val") return parse_number(key, value, 1, 1e9, options.val);
  if (key == "seed") return parse_number(key, value, 0, 9e15, options.seed);
  if (key == "objects") return parse_number(key, value, 1, 12, options.objects);
  if (key == "plain") return parse_flag(key, value, options.plain);
  const auto near = nearest_name(key, {"size", "count", "val", "seed", "objects", "plain"});
  throw UsageError(
      "shapes: there is no option '{}'{}; known are size, count, val, seed, objects, plain", key,
      near ? ", did you mean '" + *near + "'" : "");
}

std::string purpose(std::string_view split) { return "shapes/" + std::string(split); }

}  // namespace

bool is_shapes_spec(std::string_view spec) {
  return spec == kSpecName || spec.starts_with("shapes:");
}

ShapesOptions parse_shapes_spec(std::string_view spec) {
  ShapesOptions options;
  spec.remove_prefix(std::min(spec.size(), kSpecName.size() + 1));
  while (!spec.empty()) {
    const std::size_t comma = spec.find(',');
    const std::string_view part = spec.substr(0, comma);
    spec = comma == std::string_view::npos ? std::string_view() : spec.substr(comma + 1);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      throw UsageError("shapes: '{}' is not key=value; write for example shapes:size=64,count=2000",
                       part);
    }
    set_option(options, part.substr(0, equals), part.substr(equals + 1));
  }
  return options;
}

int shapes_class(const ShapesOptions& options, std::string_view split, std::int64_t index) {
  RandomStream order(options.seed, purpose(split) + "/class",
                     static_cast<std::uint64_t>(index / kShapeKinds));
  return static_cast<int>(
      order.permutation(kShapeKinds)[static_cast<std::size_t>(index % kShapeKinds)]);
}

ShapesPicture draw_shapes(const ShapesOptions& options, std::string_view split,
                          std::int64_t index) {
  const auto main_kind = static_cast<ShapeKind>(shapes_class(options, split, index));
  RandomStream random(options.seed, purpose(split), static_cast<std::uint64_t>(index));
  const ShapeScene scene = plan_scene(random, main_kind, options.objects, options.plain);
  ShapesPicture picture;
  picture.class_id = static_cast<int>(main_kind);
  const std::vector<int> owner =
      paint_scene(scene, random.fork("paint"), options.size, options.plain, picture.image);

  picture.labels = GrayImage(options.size, options.size);
  std::vector<GrayImage> masks(scene.shapes.size(), GrayImage(options.size, options.size));
  for (std::size_t i = 0; i < owner.size(); ++i) {
    if (owner[i] < 0) continue;
    const auto shape = static_cast<std::size_t>(owner[i]);
    masks[shape].pixels[i] = 1;
    picture.labels.pixels[i] =
        static_cast<std::uint8_t>(static_cast<int>(scene.shapes[shape].kind) + 1);
  }
  for (std::size_t shape = 0; shape < masks.size(); ++shape) {
    Instance instance;
    instance.mask = rle_encode(masks[shape]);
    instance.area = static_cast<double>(rle_area(instance.mask));
    if (instance.area == 0) continue;  // thinner than a pixel at a very small size
    instance.class_id = static_cast<int>(scene.shapes[shape].kind);
    instance.box = rle_bounds(instance.mask);
    instance.id = static_cast<std::int64_t>(shape);
    const bool first = static_cast<int>(shape) == scene.main;
    picture.instances.insert(first ? picture.instances.begin() : picture.instances.end(),
                             std::move(instance));
  }
  return picture;
}

}  // namespace addp
