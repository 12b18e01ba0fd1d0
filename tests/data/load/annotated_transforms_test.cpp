#include "data/load/annotated_transforms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "data/coco/coco_results.h"
#include "data/shapes/shapes.h"

namespace addp {
namespace {

Sample shapes_sample(std::int64_t index, int size = 64) {
  ShapesPicture made = draw_shapes({.size = size}, "train", index);
  Sample sample;
  sample.name = "made";
  sample.image = made.image;
  sample.width = sample.height = size;
  sample.labels = made.labels;
  sample.instances = made.instances;
  return sample;
}

struct Made {
  std::vector<float> floats;
  std::vector<std::uint8_t> labels;
  BatchItem item;
};

Made run(const Transform& transform, Sample sample, int size, std::uint64_t seed) {
  Made made;
  made.floats.resize(std::size_t(3 * size * size));
  made.labels.resize(std::size_t(size * size));
  made.item.floats = made.floats;
  made.item.labels = made.labels;
  RandomStream random(seed, "test");
  transform(sample, random, made.item);
  return made;
}

TEST(DenseTransforms, ScaleOneChangesNothing) {
  const Sample sample = shapes_sample(0);
  const Made made =
      run(segmentation_transform(
              {.size = 64, .scale_low = 1, .scale_high = 1, .flip = false, .max_share = 1}),
          sample, 64, 1);
  EXPECT_EQ(made.labels, sample.labels.pixels);
  EXPECT_FLOAT_EQ(made.floats[0], static_cast<float>(sample.image.pixels[0]) / 255);
}

TEST(DenseTransforms, SmallPicturesLeaveIgnoredPixels) {
  const Made made =
      run(segmentation_transform({.size = 64, .scale_low = 0.5, .scale_high = 0.5, .max_share = 1}),
          shapes_sample(0), 64, 1);
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 64; ++x) {
      EXPECT_EQ(made.labels[std::size_t(y * 64 + x)] == kIgnoreLabel, x >= 32 || y >= 32);
    }
  }
}

TEST(DenseTransforms, SameStreamSameCrop) {
  const Transform transform = segmentation_transform({.size = 48});
  EXPECT_EQ(run(transform, shapes_sample(3), 48, 7).labels,
            run(transform, shapes_sample(3), 48, 7).labels);
}

// Whatever the scale, place, mirroring and turn: a mask fills its box, and both lie in the picture.
TEST(DenseTransforms, BoxesStayAroundTheirMasks) {
  const Transform transform =
      detection_transform({.size = 64, .scale_low = 0.6, .scale_high = 2, .turn = true});
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Made made = run(transform, shapes_sample(std::int64_t(seed)), 64, seed);
    for (const Instance& instance : made.item.instances) {
      const CocoBox bounds = rle_bounds(instance.mask);
      EXPECT_EQ(instance.mask.width, 64);
      EXPECT_NEAR(instance.box.x, bounds.x, 2);
      EXPECT_NEAR(instance.box.y, bounds.y, 2);
      EXPECT_NEAR(instance.box.x + instance.box.width, bounds.x + bounds.width, 2);
      EXPECT_NEAR(instance.box.y + instance.box.height, bounds.y + bounds.height, 2);
      EXPECT_GE(instance.box.x, 0);
      EXPECT_LE(instance.box.x + instance.box.width, 64);
      ++seen;
    }
  }
  EXPECT_GT(seen, 20);
}

// Magnified by 2, a thing has twice its size whatever the square's side is.
TEST(DenseTransforms, MagnifiedPicturesKeepTheirScale) {
  for (const int size : {128, 256}) {
    const Transform transform = detection_transform(
        {.size = size, .scale_low = 1, .scale_high = 1, .magnify = 2, .flip = false});
    const Sample sample = shapes_sample(0);
    const Made made = run(transform, sample, size, 1);
    ASSERT_EQ(made.item.instances.size(), sample.instances.size());
    for (std::size_t i = 0; i < sample.instances.size(); ++i) {
      EXPECT_NEAR(made.item.instances[i].box.width, 2 * sample.instances[i].box.width, 1e-3);
    }
  }
}

TEST(DenseTransforms, PictureAndLabelsTurnTogether) {
  const Sample sample = shapes_sample(0);
  const Transform transform = segmentation_transform(
      {.size = 64, .scale_low = 1, .scale_high = 1, .flip = false, .turn = true, .max_share = 1});
  std::set<int> seen;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Made made = run(transform, sample, 64, seed);
    for (int turns = 0; turns < 4; ++turns) {
      GrayImage labels = sample.labels;
      turn_quarters(labels, turns);
      if (made.labels != labels.pixels) continue;
      Image picture = sample.image;
      turn_quarters(picture, turns);
      EXPECT_FLOAT_EQ(made.floats[63], static_cast<float>(picture.at(63, 0)[0]) / 255);
      EXPECT_FLOAT_EQ(made.floats[63 * 64], static_cast<float>(picture.at(0, 63)[0]) / 255);
      seen.insert(turns);
    }
  }
  EXPECT_EQ(seen, (std::set<int>{0, 1, 2, 3}));
}

TEST(DenseTransforms, WhatIsOutsideHasNoBox) {
  Instance instance;
  instance.box = {50, 50, 10, 10};
  const Placement corner{.scale = 1, .left = 0, .top = 0, .width = 32, .height = 32};
  EXPECT_LE(place_instance(instance, corner, 32).box.area(), 0);
  instance.box = {4, 6, 10, 8};
  Placement mirrored = corner;
  mirrored.mirror = true;
  EXPECT_EQ(place_instance(instance, mirrored, 32).box, (CocoBox{18, 6, 10, 8}));
  mirrored.turns = 1;
  EXPECT_EQ(place_instance(instance, mirrored, 32).box, (CocoBox{6, 4, 8, 10}));
  Instance crowd = instance;
  crowd.crowd = true;
  Sample sample = shapes_sample(0);
  sample.instances = {crowd};
  EXPECT_TRUE(run(detection_transform({.size = 64}), sample, 64, 1).item.instances.empty());
}

TEST(CocoResults, GoThereAndBack) {
  const Sample sample = shapes_sample(1);
  CocoFile file;
  file.categories = {{1, "a"}, {2, "b"}};
  file.images = {{9, "made.png", 64, 64}};
  std::vector<CocoAnnotation> found;
  for (const Instance& instance : sample.instances) {
    CocoAnnotation a;
    a.id = std::int64_t(found.size()) + 1;
    a.image_id = 9;
    a.category_id = 2;
    a.box = instance.box;
    a.area = instance.area;
    a.score = 0.25;
    a.mask.runs = instance.mask;
    found.push_back(a);
  }
  file.annotations = found;
  const std::string results = coco_results_to_json(found).dump(), whole = coco_to_json(file).dump();
  const auto detections = parse_coco_detections(as_byte_span(results), "results");
  const CocoFile again = parse_coco(as_byte_span(whole), "whole");
  ASSERT_EQ(detections.size(), found.size());
  ASSERT_EQ(again.annotations.size(), found.size());
  EXPECT_TRUE(again.problems.empty());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(detections[i].mask.runs, found[i].mask.runs);
    EXPECT_EQ(detections[i].box, found[i].box);
    EXPECT_EQ(again.annotations[i].mask.runs, found[i].mask.runs);
    EXPECT_EQ(again.annotations[i].area, found[i].area);
  }
  CocoFile joined;
  join_coco(again, joined);
  join_coco(again, joined);
  sort_coco(joined);
  EXPECT_EQ(joined.annotations.back().id, std::int64_t(2 * found.size()));
}

}  // namespace
}  // namespace addp
