#include "data/shapes/shapes.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "data/load/open_dataset.h"
#include "data/set/dataset.h"

namespace addp {
namespace {

ShapesOptions small() {
  ShapesOptions options;
  options.size = 48;
  options.count = 64;
  return options;
}

TEST(Shapes, PictureDependsOnSeedSplitAndIndexOnly) {
  const ShapesPicture a = draw_shapes(small(), "train", 5);
  draw_shapes(small(), "train", 6);
  const ShapesPicture again = draw_shapes(small(), "train", 5);
  EXPECT_EQ(a.image, again.image);
  EXPECT_EQ(a.labels, again.labels);
  EXPECT_NE(a.image, draw_shapes(small(), "train", 6).image);
  EXPECT_NE(a.image, draw_shapes(small(), "val", 5).image);
  ShapesOptions other = small();
  other.seed = 2;
  EXPECT_NE(a.image, draw_shapes(other, "train", 5).image);
  other = small();
  other.count = 9999;
  EXPECT_EQ(a.image, draw_shapes(other, "train", 5).image);
}

TEST(Shapes, AnySizeShowsTheSameScene) {
  ShapesOptions large = small();
  large.size = 4 * small().size;
  for (int index = 0; index < 8; ++index) {
    const ShapesPicture a = draw_shapes(small(), "train", index),
                        b = draw_shapes(large, "train", index);
    ASSERT_EQ(a.instances.size(), b.instances.size());
    for (std::size_t i = 0; i < a.instances.size(); ++i) {
      EXPECT_EQ(a.instances[i].class_id, b.instances[i].class_id);
      EXPECT_NEAR(4 * a.instances[i].box.x, b.instances[i].box.x, 6);
      EXPECT_NEAR(4 * a.instances[i].box.width, b.instances[i].box.width, 10);
    }
  }
}

TEST(Shapes, ClassesAreBalancedAndNotInOneOrder) {
  std::vector<int> counts(kShapeKinds);
  std::set<std::vector<int>> orders;
  for (int block = 0; block < 8; ++block) {
    std::vector<int> order;
    for (int i = 0; i < kShapeKinds; ++i) {
      const int index = block * kShapeKinds + i;
      const ShapesPicture picture = draw_shapes(small(), "train", index);
      EXPECT_EQ(picture.class_id, shapes_class(small(), "train", index));
      order.push_back(picture.class_id);
      ++counts[static_cast<std::size_t>(picture.class_id)];
    }
    orders.insert(order);
  }
  EXPECT_EQ(counts, std::vector<int>(kShapeKinds, 8));
  EXPECT_GT(orders.size(), 4U);
}

TEST(Shapes, MasksBoxesLabelsAndClassAgree) {
  for (int index = 0; index < 40; ++index) {
    const ShapesPicture picture = draw_shapes(small(), "train", index);
    ASSERT_FALSE(picture.instances.empty());
    EXPECT_EQ(picture.instances.front().class_id, picture.class_id);
    GrayImage covered(48, 48);
    for (const Instance& instance : picture.instances) {
      const GrayImage mask = rle_decode(instance.mask);
      EXPECT_EQ(instance.box, rle_bounds(instance.mask));
      EXPECT_EQ(instance.area, static_cast<double>(rle_area(instance.mask)));
      EXPECT_LE(instance.area, picture.instances.front().area);  // the class is that of the largest
      for (std::size_t i = 0; i < mask.pixels.size(); ++i) {
        if (mask.pixels[i] == 0) continue;
        EXPECT_EQ(covered.pixels[i], 0) << "two masks share a pixel";
        covered.pixels[i] = 1;
        ASSERT_EQ(picture.labels.pixels[i], instance.class_id + 1);
      }
    }
    for (std::size_t i = 0; i < covered.pixels.size(); ++i) {
      ASSERT_EQ(covered.pixels[i] == 0, picture.labels.pixels[i] == 0);
    }
  }
}

TEST(Shapes, ShapesHideOneAnotherButNeverWholly) {
  int touching = 0, several = 0;
  for (int index = 0; index < 60; ++index) {
    const ShapesPicture picture = draw_shapes(small(), "train", index);
    several += picture.instances.size() > 1;
    bool touches = false;
    for (const Instance& a : picture.instances) {
      EXPECT_GT(a.area, 12);
      for (const Instance& b : picture.instances) touches |= &a != &b && box_iou(a.box, b.box) > 0;
    }
    touching += touches;
  }
  EXPECT_GT(several, 50);
  EXPECT_GT(touching, 25);
}

TEST(Shapes, ShapesStandOutFromTheGround) {
  int clear = 0;
  for (int index = 0; index < 32; ++index) {
    const ShapesPicture picture = draw_shapes(small(), "train", index);
    const GrayImage mask = rle_decode(picture.instances.front().mask);
    double inside[3]{}, outside[3]{}, in = 0, out = 0;
    for (std::size_t i = 0; i < mask.pixels.size(); ++i) {
      const bool ground = picture.labels.pixels[i] == 0;
      if (mask.pixels[i] == 0 && !ground) continue;
      (ground ? out : in) += 1;
      for (int c = 0; c < 3; ++c) (ground ? outside : inside)[c] += picture.image.pixels[3 * i + c];
    }
    double distance = 0;
    for (int c = 0; c < 3; ++c) distance += std::abs(inside[c] / in - outside[c] / out);
    clear += distance > 60;
  }
  EXPECT_GE(clear, 30);
}

TEST(Shapes, PlainPicturesAreUprightAndFlat) {
  const ShapesOptions textured{.size = 48, .objects = 1};
  ShapesOptions plain = textured;
  plain.plain = true;
  std::set<std::vector<int>> grounds;
  for (int index = 0; index < 24; ++index) {
    const ShapesPicture with = draw_shapes(textured, "train", index);
    const ShapesPicture without = draw_shapes(plain, "train", index);
    EXPECT_EQ(with.class_id, without.class_id) << index;
    const CocoBox box = without.instances.front().box;
    EXPECT_NEAR(box.x + box.width / 2, 24, 7) << index;
    EXPECT_NEAR(box.y + box.height / 2, 24, 10) << index;
    if (shape_kind_names().at(static_cast<std::size_t>(without.class_id)) == "square") {
      EXPECT_GT(without.instances.front().area, 0.97 * box.area())
          << index;  // but its round corners
    }
    const auto corner = [&](std::size_t pixel) {
      const auto* first = &without.image.pixels[3 * pixel];
      return std::vector<int>(first, first + 3);
    };
    for (const std::size_t pixel : {0, 47, 47 * 48, 48 * 48 - 1}) {
      grounds.insert(corner(pixel));
    }
  }
  EXPECT_EQ(grounds.size(), 1U);
}

TEST(Shapes, SpecsAreParsedAndMistakesNamed) {
  const ShapesOptions options =
      parse_shapes_spec("shapes:size=96,count=12,val=7,seed=9,objects=2,plain=1");
  EXPECT_TRUE(options.plain);
  EXPECT_EQ(options.size, 96);
  EXPECT_EQ(options.count, 12);
  EXPECT_EQ(options.val_count(), 7);
  EXPECT_EQ(options.seed, 9U);
  EXPECT_EQ(options.objects, 2);
  EXPECT_EQ(parse_shapes_spec("shapes").count, 2000);
  EXPECT_TRUE(is_shapes_spec("shapes:"));
  EXPECT_FALSE(is_shapes_spec("shapes2"));
  for (const char* bad : {"shapes:size", "shapes:size=0", "shapes:size=x", "shapes:colour=3",
                          "shapes:count=1e3", "shapes:plain=2", "shapes:size=64,,seed=1"}) {
    EXPECT_THROW(parse_shapes_spec(bad), UsageError) << bad;
  }
  try {
    parse_shapes_spec("shapes:cuont=3");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'count'"), std::string::npos)
        << error.what();
  }
}

TEST(Shapes, ServesEveryTask) {
  const std::string spec = "shapes:size=32,count=20,seed=3";
  const auto pictures = open_dataset(spec, "train", Task::kPictures);
  EXPECT_EQ(pictures->size(), 20);
  EXPECT_EQ(open_dataset(spec, "val", Task::kPictures)->size(), 5);
  EXPECT_EQ(open_dataset(spec, "all", Task::kPictures)->size(), 25);
  const auto classes = open_dataset(spec, "train", Task::kClassification);
  EXPECT_EQ(classes->class_names().size(), 8U);
  EXPECT_EQ(classes->get(3).class_id, classes->class_of(3));
  EXPECT_EQ(classes->get(3).picture().width, 32);
  EXPECT_FALSE(open_dataset(spec, "train", Task::kDetection)->get(0).instances.empty());
  const auto segments = open_dataset(spec, "train", Task::kSegmentation);
  EXPECT_EQ(segments->class_names().front(), "background");
  const Sample sample = segments->get(1);
  EXPECT_EQ(sample.labels.width, 32);
  for (const auto value : sample.labels.pixels) ASSERT_LT(value, segments->class_names().size());
}

}  // namespace
}  // namespace addp
