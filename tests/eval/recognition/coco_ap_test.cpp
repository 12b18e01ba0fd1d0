#include "eval/recognition/coco_ap.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "support/fixtures.h"

namespace addp {
namespace {

TEST(CocoAp, TwelveFiguresEqualPycocotools) {
  ADDP_REQUIRE_FIXTURE(folder, "ops");
  std::ifstream file(folder / "coco_ap.json");
  const auto answers = nlohmann::json::parse(file);
  const CocoFile truth = load_coco(folder / "coco_gt.json");
  const auto detections = load_coco_detections(folder / "coco_dets.json");
  for (const auto& [key, task] : {std::pair{"bbox", CocoTask::kBox}, {"segm", CocoTask::kMask}}) {
    const auto expected = answers[key].get<std::vector<double>>();
    const auto figures = evaluate_coco(truth, detections, task);
    ASSERT_EQ(expected.size(), figures.values.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(figures.values[i], expected[i], 1e-9) << key << " " << kCocoFigureNames[i];
    }
  }
}

CocoAnnotation annotation(std::int64_t id, std::int64_t image, std::int64_t category, CocoBox box,
                          bool crowd = false) {
  CocoAnnotation out;
  out.id = id;
  out.image_id = image;
  out.category_id = category;
  out.box = box;
  out.area = box.area();
  out.crowd = crowd;
  return out;
}

CocoAnnotation detection(std::int64_t image, std::int64_t category, CocoBox box, double score) {
  auto out = annotation(0, image, category, box);
  out.score = score;
  return out;
}

CocoFile two_pictures() {
  CocoFile truth;
  truth.name = "truth";
  truth.categories = {{1, "cat"}, {7, "dog"}};
  truth.images = {{1, "a.png", 200, 200}, {2, "b.png", 200, 200}};
  truth.annotations = {annotation(1, 1, 1, {10, 10, 40, 40}),
                       annotation(2, 1, 1, {100, 100, 40, 40}),
                       annotation(3, 2, 7, {0, 0, 100, 100})};
  return truth;
}

std::vector<CocoAnnotation> perfect(const CocoFile& truth) {
  std::vector<CocoAnnotation> found;
  for (const auto& a : truth.annotations)
    found.push_back(detection(a.image_id, a.category_id, a.box, 0.9));
  return found;
}

TEST(CocoAp, PerfectDetectionsScoreOne) {
  const CocoFile truth = two_pictures();
  for (const auto task : {CocoTask::kBox, CocoTask::kMask}) {
    const auto figures = evaluate_coco(truth, perfect(truth), task);
    EXPECT_NEAR(figures.ap(), 1, 1e-12);
    EXPECT_EQ(figures.values[3], -1);  // nothing small
    EXPECT_NEAR(figures.values[4], 1, 1e-12);
    EXPECT_NEAR(figures.values[6], 0.75, 1e-12);  // one per picture: half of the cats, all dogs
    EXPECT_NEAR(figures.values[8], 1, 1e-12);
    EXPECT_NEAR(figures.class_ap[1], 1, 1e-12);
  }
}

TEST(CocoAp, NothingFoundScoresZeroAndNothingToFindMinusOne) {
  CocoFile truth = two_pictures();
  EXPECT_EQ(evaluate_coco(truth, {}, CocoTask::kBox).ap(), 0);
  truth.annotations.clear();
  EXPECT_EQ(evaluate_coco(truth, {}, CocoTask::kBox).ap(), -1);
  EXPECT_EQ(evaluate_coco(truth, {detection(1, 1, {0, 0, 5, 5}, 1)}, CocoTask::kBox).ap(), -1);
}

TEST(CocoAp, ASecondDetectionOfTheSameThingIsWrong) {
  const CocoFile truth = two_pictures();
  auto found = perfect(truth);
  found.push_back(detection(2, 7, {0, 0, 100, 100}, 0.95));
  const auto figures = evaluate_coco(truth, found, CocoTask::kBox);
  // The better copy counts, the other comes after full recall: AP stays.
  EXPECT_NEAR(figures.ap(), 1, 1e-12);
  found.push_back(
      detection(2, 7, {100, 100, 50, 50}, 0.99));  // a mistake ranked first halves precision
  EXPECT_NEAR(evaluate_coco(truth, found, CocoTask::kBox).class_ap[1], 0.5, 1e-9);
}

TEST(CocoAp, CrowdsAbsorbDetections) {
  CocoFile truth = two_pictures();
  truth.annotations.push_back(annotation(4, 2, 7, {100, 100, 100, 100}, true));
  auto found = perfect(truth);
  found.pop_back();
  for (int i = 0; i < 5; ++i) found.push_back(detection(2, 7, {110 + 2.0 * i, 120, 30, 30}, 0.99));
  EXPECT_NEAR(evaluate_coco(truth, found, CocoTask::kBox).ap(), 1, 1e-12);
  EXPECT_NEAR(evaluate_coco(truth, found, CocoTask::kMask).ap(), 1, 1e-12);
}

TEST(CocoAp, IdZeroIsAnIdLikeAnyOther) {
  CocoFile truth = two_pictures();
  truth.annotations[0].id = 0;
  EXPECT_NEAR(evaluate_coco(truth, perfect(truth), CocoTask::kBox).ap(), 1, 1e-12);
}

TEST(CocoAp, DetectionsOfAnUnknownPictureAreRefused) {
  EXPECT_THROW(evaluate_coco(two_pictures(), {detection(9, 1, {0, 0, 5, 5}, 1)}, CocoTask::kBox),
               DataError);
  EXPECT_NO_THROW(
      evaluate_coco(two_pictures(), {detection(1, 99, {0, 0, 5, 5}, 1)}, CocoTask::kBox));
}

}  // namespace
}  // namespace addp
