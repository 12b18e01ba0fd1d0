#include "heads/detect/views.h"

#include <gtest/gtest.h>

#include "data/shapes/shapes.h"
#include "heads/detect/detect_picture.h"
#include "heads/small_heads.h"

namespace addp {
namespace {

RawDetections detections(const std::vector<std::array<float, 4>>& boxes,
                         const std::vector<float>& scores,
                         const std::vector<std::int64_t>& labels) {
  RawDetections found{torch::empty({std::ssize(boxes), 4}), torch::tensor(scores),
                      torch::tensor(labels, torch::kLong), torch::zeros({std::ssize(boxes), 4, 4})};
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      found.boxes[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(j)] = boxes[i][j];
    }
  }
  return found;
}

TEST(Views, MirrorsAreTheirOwnInverses) {
  const Image picture = draw_shapes({.size = 32, .objects = 2}, "train", 0).image;
  RawDetections found = detections({{2, 3, 10, 20}, {5, 5, 30, 9}}, {0.9F, 0.4F}, {0, 1});
  found.masks = torch::rand({2, 4, 4});
  EXPECT_EQ(mirrors(3).size(), 3U);
  for (const Mirror& mirror : mirrors(4)) {
    EXPECT_EQ(mirrored(mirrored(picture, mirror), mirror).pixels, picture.pixels);
    const RawDetections back = mirrored(mirrored(found, 32, 24, mirror), 32, 24, mirror);
    EXPECT_TRUE(back.boxes.equal(found.boxes));
    EXPECT_TRUE(back.masks.equal(found.masks));
  }
}

TEST(Views, ABoxLiesWhereItsPixelsWent) {
  Image picture(8, 6);
  picture.row(1)[3 * 2] = 255;  // column 2, row 1
  RawDetections found = detections({{2, 1, 3, 2}}, {1}, {0});
  found.masks[0][0][0] = 1;
  for (const Mirror& mirror : mirrors(4)) {
    const Image image = mirrored(picture, mirror);
    const RawDetections there = mirrored(found, 8, 6, mirror);
    const auto left = there.boxes[0][0].item<int>(), top = there.boxes[0][1].item<int>();
    EXPECT_EQ(there.boxes[0][2].item<int>(), left + 1);
    EXPECT_EQ(image.row(top)[3 * left], 255) << left << ", " << top;
    EXPECT_EQ(there.masks[0][mirror.down ? 3 : 0][mirror.across ? 3 : 0].item<float>(), 1);
  }
}

TEST(Views, WhatTheyAgreeOnIsTheMean) {
  const RawDetections one = detections({{0, 0, 10, 10}, {40, 40, 60, 60}}, {0.9F, 0.6F}, {0, 0});
  const RawDetections other =
      detections({{0, 0, 10, 12}, {0, 0, 10, 10}, {80, 0, 90, 10}}, {0.3F, 0.2F, 0.08F}, {0, 1, 0});
  const RawDetections all = agreed({one, other}, {.score = 0.05});
  ASSERT_EQ(all.boxes.size(0), 3);  // the last of the other is below the score, halved
  const auto near = [](const Tensor& a, const std::vector<float>& b) {
    EXPECT_LT((a - torch::tensor(b)).abs().max().item<float>(), 1e-5F) << a;
  };
  near(all.scores, {0.6F, 0.3F, 0.1F});
  near(all.boxes[0], {0, 0, 10, 10.5F});  // by scores, three to one
  near(all.boxes[1], {40, 40, 60, 60});
  EXPECT_EQ(all.labels[2].item<int>(), 1);  // another class at the same place is another thing
  EXPECT_EQ(agreed({one, other}, {.score = 0.05, .nms = 0.5, .count = 2}).boxes.size(0), 2);
  const RawDetections none = detections({}, {}, {});
  EXPECT_EQ(agreed({none, none}, {}).boxes.size(0), 0);
}

// With all four views, mirroring the picture mirrors what is found in it.
TEST(Views, TogetherTheyKnowNoSide) {
  Detector detector(testing::tiny_detector(testing::tiny_vit(64, 8), 64));
  detector.initialise_weights(RandomStream(1, "test"));
  detector.eval();
  const Image picture = draw_shapes({.size = 64, .objects = 3}, "train", 0).image;
  const DetectorLimits limits{.score = 0.05, .nms = 0.5, .count = 1000, .views = 4};
  const auto found = detect_picture(detector, picture, limits),
             there = detect_picture(detector, mirrored(picture, {.across = true}), limits);
  ASSERT_FALSE(found.empty());
  ASSERT_EQ(found.size(), there.size());
  for (const Detection& one : found) {
    const bool mirrored_one = std::ranges::any_of(there, [&](const Detection& other) {
      return one.class_id == other.class_id && std::abs(one.score - other.score) < 1e-4 &&
             std::abs(one.box.x - (64 - other.box.x - other.box.width)) < 0.05 &&
             std::abs(one.box.y - other.box.y) < 0.05;
    });
    EXPECT_TRUE(mirrored_one) << one.score << " at " << one.box.x << ", " << one.box.y;
  }
}

}  // namespace
}  // namespace addp
