// Masks against pycocotools' answers (coco_reference.json, written by make_coco_reference.py).
#include "data/coco/rle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/random.h"
#include "data/coco/coco.h"
#include "support/fixtures.h"

namespace addp {
namespace {

using Json = nlohmann::json;

const Json& reference() {
  static const Json answers = Json::parse(std::ifstream(std::filesystem::path(ADDP_SOURCE_DIR) /
                                                        "tests/data/coco/coco_reference.json"));
  return answers;
}

CocoBox to_box(const Json& json) {
  return {json[0].get<double>(), json[1].get<double>(), json[2].get<double>(),
          json[3].get<double>()};
}

GrayImage random_mask(RandomStream& random, int width, int height, double density) {
  GrayImage mask(width, height);
  for (auto& pixel : mask.pixels) pixel = random.chance(density) ? 1 : 0;
  return mask;
}

TEST(Rle, PolygonsAsPycocotools) {
  for (const Json& c : reference()["polygons"]) {
    const auto polygons = c["polygons"].get<std::vector<Polygon>>();
    const Rle mask = rle_from_polygons(polygons, c["height"], c["width"]);
    ASSERT_EQ(rle_to_string(mask), c["counts"].get<std::string>()) << c.dump();
    EXPECT_EQ(rle_area(mask), c["area"].get<std::int64_t>());
    EXPECT_EQ(rle_bounds(mask), to_box(c["box"])) << c.dump();
  }
}

TEST(Rle, BoxesAsPycocotools) {
  for (const Json& c : reference()["boxes"]) {
    const Rle mask = rle_from_box(to_box(c["rectangle"]), c["height"], c["width"]);
    EXPECT_EQ(rle_to_string(mask), c["counts"].get<std::string>()) << c.dump();
  }
}

TEST(Rle, OverlapsAsPycocotools) {
  const Json& c = reference()["overlaps"];
  std::vector<Rle> masks;
  for (const Json& text : c["masks"]) {
    masks.push_back(rle_from_string(text.get<std::string>(), c["height"], c["width"]));
    EXPECT_EQ(rle_to_string(masks.back()), text.get<std::string>());
  }
  Rle all = masks.front();
  for (std::size_t i = 0; i < masks.size(); ++i) {
    all = rle_merge(all, masks[i], RleMerge::kUnion);
    for (std::size_t j = 0; j < masks.size(); ++j) {
      EXPECT_DOUBLE_EQ(rle_iou(masks[i], masks[j], c["crowd"][j]), c["iou"][i][j].get<double>())
          << i << " " << j;
    }
  }
  EXPECT_EQ(rle_to_string(all), c["union"].get<std::string>());
  const Rle both = rle_merge(masks[masks.size() - 2], masks.back(), RleMerge::kIntersection);
  EXPECT_EQ(rle_to_string(both), c["intersection"].get<std::string>());
  for (std::size_t i = 0; i < c["rectangles"].size(); ++i) {
    for (std::size_t j = 0; j < c["rectangles"].size(); ++j) {
      EXPECT_DOUBLE_EQ(
          box_iou(to_box(c["rectangles"][i]), to_box(c["rectangles"][j]), c["rectangle_crowd"][j]),
          c["rectangle_iou"][i][j].get<double>());
    }
  }
}

TEST(Rle, RoundTrips) {
  RandomStream random(3, "rle");
  for (const double density : {0.0, 0.02, 0.5, 0.97, 1.0}) {
    const GrayImage mask = random_mask(random, 37, 23, density);
    const Rle runs = rle_encode(mask);
    EXPECT_EQ(rle_decode(runs), mask);
    EXPECT_EQ(rle_from_string(rle_to_string(runs), 23, 37), runs);
    EXPECT_EQ(rle_area(runs), std::count(mask.pixels.begin(), mask.pixels.end(), 1));
  }
}

TEST(Rle, BoundsAndOverlapOfPixelsCountedOneByOne) {
  RandomStream random(4, "rle");
  for (int round = 0; round < 30; ++round) {
    const GrayImage a = random_mask(random, 11, 7, round % 3 == 0 ? 0.02 : 0.4);
    const GrayImage b = random_mask(random, 11, 7, 0.4);
    int both = 0, either = 0, left = 11, top = 7, right = -1, bottom = -1;
    for (int y = 0; y < 7; ++y) {
      for (int x = 0; x < 11; ++x) {
        both += a.row(y)[x] & b.row(y)[x];
        either += a.row(y)[x] | b.row(y)[x];
        if (a.row(y)[x] == 0) continue;
        left = std::min(left, x);
        right = std::max(right, x);
        top = std::min(top, y);
        bottom = std::max(bottom, y);
      }
    }
    const CocoBox expected = right < 0
                                 ? CocoBox{}
                                 : CocoBox{double(left), double(top), double(right - left + 1),
                                           double(bottom - top + 1)};
    EXPECT_EQ(rle_bounds(rle_encode(a)), expected);
    const double iou = either == 0 ? 0 : double(both) / either;
    EXPECT_DOUBLE_EQ(rle_iou(rle_encode(a), rle_encode(b)), iou);
  }
}

TEST(Rle, RefusesImpossibleMasks) {
  EXPECT_THROW(rle_from_string("~~~", 10, 10), DataError);
  EXPECT_THROW(rle_from_string("oooooooooooooooo", 10, 10), DataError);
  EXPECT_THROW(rle_from_string("5", 10, 10), DataError);
  EXPECT_THROW(rle_from_counts(std::vector<std::int64_t>{50, 51}, 10, 10), DataError);
  EXPECT_THROW(rle_from_counts(std::vector<std::int64_t>{50, -1, 51}, 10, 10), DataError);
  EXPECT_THROW(rle_from_counts(std::vector<std::int64_t>{0}, 0, 10), DataError);
  EXPECT_THROW(rle_from_counts(std::vector<std::int64_t>{}, 1 << 20, 1 << 20), DataError);
  const std::vector<Polygon> two{{1, 1, 2, 2}}, far{{0, 0, 1e300, 0, 0, 5}},
      nan{{0, 0, 1, NAN, 0, 5}};
  EXPECT_THROW(rle_from_polygons(two, 10, 10), DataError);
  EXPECT_THROW(rle_from_polygons(far, 10, 10), DataError);
  EXPECT_THROW(rle_from_polygons(nan, 10, 10), DataError);
}

TEST(CocoFixture, AreasAndBoxesOfMasksAreThoseOfTheFile) {
  ADDP_REQUIRE_FIXTURE(folder, "ops");
  const CocoFile truth = load_coco(folder / "coco_gt.json");
  ASSERT_FALSE(truth.annotations.empty());
  bool crowd = false;
  for (const CocoAnnotation& a : truth.annotations) {
    crowd = crowd || a.crowd;
    if (a.mask.runs.empty()) continue;
    EXPECT_EQ(static_cast<double>(rle_area(a.mask.runs)), a.area) << a.id;
    EXPECT_EQ(rle_bounds(a.mask.runs), a.box) << a.id;
  }
  EXPECT_TRUE(crowd);
  const auto detections = load_coco_detections(folder / "coco_dets.json");
  ASSERT_FALSE(detections.empty());
  for (const CocoAnnotation& d : detections) {
    ASSERT_NE(truth.find_image(d.image_id), nullptr);
    EXPECT_GE(truth.class_of(d.category_id), 0);
  }
}

}  // namespace
}  // namespace addp
