#include "eval/recognition/coco_ap.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "eval/recognition/instance_matching.h"
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

TEST(InstanceMatching, CountsFoundMissedAndInvented) {
  const CocoFile truth = two_pictures();
  const auto count = [&](std::vector<CocoAnnotation> detections, double score = 0.5) {
    const InstanceCounts counts = match_instances(truth, detections, {.score = score});
    return std::vector<std::int64_t>{counts.found, counts.invented, counts.missed};
  };
  using Counts = std::vector<std::int64_t>;
  EXPECT_EQ(count({}), (Counts{0, 0, 3}));
  EXPECT_EQ(count(perfect(truth)), (Counts{3, 0, 0}));
  const auto right = detection(1, 1, {10, 10, 40, 40}, 0.9);
  // A second detection of the same thing is invented; so is one of the wrong class, and one that
  // covers less than half.
  EXPECT_EQ(count({right, detection(1, 1, {11, 10, 40, 40}, 0.8)}), (Counts{1, 1, 2}));
  EXPECT_EQ(count({detection(1, 7, {10, 10, 40, 40}, 0.9)}), (Counts{0, 1, 3}));
  EXPECT_EQ(count({detection(2, 7, {0, 0, 100, 49}, 0.9)}), (Counts{0, 1, 3}));
  EXPECT_EQ(count({detection(2, 7, {0, 0, 100, 51}, 0.9)}), (Counts{1, 0, 2}));
  // What is not certain enough does not count.
  EXPECT_EQ(count({right}, 0.95), (Counts{0, 0, 3}));
  EXPECT_THROW(count({detection(5, 1, {10, 10, 40, 40}, 0.9)}), DataError);
}

TEST(InstanceMatching, CrowdsCountNeitherWay) {
  CocoFile truth = two_pictures();
  truth.annotations.push_back(annotation(4, 2, 7, {100, 100, 90, 90}, /*crowd=*/true));
  const auto in_crowd = detection(2, 7, {110, 110, 20, 20}, 0.9);
  const InstanceCounts counts = match_instances(truth, {in_crowd, in_crowd}, {});
  EXPECT_EQ(counts.found, 0);
  EXPECT_EQ(counts.invented, 0);
  EXPECT_EQ(counts.missed, 3);
  EXPECT_EQ(counts.accuracy(), 0);
  EXPECT_EQ(InstanceCounts{}.accuracy(), 1);
}

}  // namespace
}  // namespace addp
