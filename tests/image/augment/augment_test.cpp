#include "image/augment/augment.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "image/augment/color_ops.h"
#include "image/augment/randaugment.h"

namespace addp {
namespace {

TEST(RandomCrop, StaysInsideAndWithinItsRanges) {
  RandomStream random(1, "crop");
  RandomCropOptions options;
  options.min_area = 0.2;
  double smallest = 1, largest = 0;
  for (int i = 0; i < 3000; ++i) {
    const PixelBox box = random_resized_crop(300, 200, options, random);
    ASSERT_GE(box.left, 0);
    ASSERT_GE(box.top, 0);
    ASSERT_LE(box.right(), 300);
    ASSERT_LE(box.bottom(), 200);
    const double area = double(box.width) * box.height / (300.0 * 200);
    smallest = std::min(smallest, area);
    largest = std::max(largest, area);
    const double aspect = double(box.width) / box.height;
    ASSERT_GT(aspect, 0.75 - 0.02);
    ASSERT_LT(aspect, 4.0 / 3 + 0.02);
  }
  EXPECT_NEAR(smallest, 0.2, 0.01);
  EXPECT_GT(largest, 0.85);
}

TEST(RandomCrop, FallsBackToTheMiddle) {
  RandomStream random(1, "crop");
  EXPECT_EQ(random_resized_crop(1000, 10, {1, 1}, random), (PixelBox{493, 0, 13, 10}));
  EXPECT_EQ(random_resized_crop(10, 1000, {1, 1}, random), (PixelBox{0, 493, 10, 13}));
  EXPECT_EQ(random_resized_crop(1, 1, {}, random), (PixelBox{0, 0, 1, 1}));
}

TEST(Normalise, GoesToPlanes) {
  Image image(2, 1);
  image.pixels = {0, 128, 255, 51, 102, 153};
  std::vector<float> values(6);
  to_chw(image, values);
  EXPECT_FLOAT_EQ(values[0], 0);
  EXPECT_FLOAT_EQ(values[1], 0.2f);
  EXPECT_FLOAT_EQ(values[2], 128 / 255.0f);
  EXPECT_FLOAT_EQ(values[4], 1);
  const Normalisation normalisation;
  to_chw(image, values, normalisation);
  EXPECT_FLOAT_EQ(values[0], -0.485f / 0.229f);
  EXPECT_FLOAT_EQ(values[4], (1 - 0.406f) / 0.225f);
  EXPECT_THROW(to_chw(image, std::span(values).first(3)), UsageError);
}

TEST(RandomErasing, ChangesOneRectangleOnly) {
  RandomStream random(5, "erase");
  RandomErasingOptions options;
  options.probability = 1;
  for (int round = 0; round < 20; ++round) {
    std::vector<float> values(3 * 40 * 50, 7.0f);
    const PixelBox box = random_erasing(values, 50, 40, options, random);
    ASSERT_GT(box.width, 0);
    for (int c = 0; c < 3; ++c) {
      for (int y = 0; y < 40; ++y) {
        for (int x = 0; x < 50; ++x) {
          const bool inside = x >= box.left && x < box.right() && y >= box.top && y < box.bottom();
          ASSERT_EQ(values[std::size_t((c * 40 + y) * 50 + x)] != 7.0f, inside);
        }
      }
    }
  }
  options.probability = 0;
  std::vector<float> values(3 * 40 * 50, 7.0f);
  EXPECT_EQ(random_erasing(values, 50, 40, options, random).width, 0);
  EXPECT_EQ(values, std::vector<float>(values.size(), 7.0f));
}

TEST(RandAugment, IsAFunctionOfItsStream) {
  Image image(48, 32);
  RandomStream pixels(2, "pixels");
  for (auto& value : image.pixels) value = static_cast<std::uint8_t>(pixels.next_u32());
  const RandAugment augment;
  int changed = 0;
  for (std::uint64_t i = 0; i < 40; ++i) {
    RandomStream a(9, "augment", 0, i), b(9, "augment", 0, i);
    const Image out = augment(image, a);
    EXPECT_EQ(out, augment(image, b));
    EXPECT_EQ(out.width, 48);
    EXPECT_EQ(out.height, 32);
    changed += !(out == image);
  }
  EXPECT_GT(changed, 20);
  EXPECT_LT(changed, 40);
  RandAugmentOptions bad;
  bad.magnitude = 11;
  EXPECT_THROW(RandAugment{bad}, UsageError);
}

TEST(RandAugment, ArgumentsAtTheEnds) {
  EXPECT_EQ(augment_argument(AugmentOp::kPosterize, 0, false), 4);
  EXPECT_EQ(augment_argument(AugmentOp::kPosterize, 10, false), 0);
  EXPECT_EQ(augment_argument(AugmentOp::kSolarize, 0, false), 256);
  EXPECT_EQ(augment_argument(AugmentOp::kSolarize, 10, false), 0);
  EXPECT_DOUBLE_EQ(augment_argument(AugmentOp::kColor, 10, true), 0.1);
  EXPECT_DOUBLE_EQ(augment_argument(AugmentOp::kRotate, 10, true), -30);
}

TEST(ColorOps, NeutralArgumentsLeaveThePicture) {
  Image image(9, 7);
  RandomStream random(2, "pixels");
  for (auto& value : image.pixels) value = static_cast<std::uint8_t>(random.next_u32());
  EXPECT_EQ(invert(invert(image)), image);
  EXPECT_EQ(posterize(image, 8), image);
  EXPECT_EQ(solarize(image, 256), image);
  EXPECT_EQ(solarize_add(image, 0), image);
  EXPECT_EQ(adjust_color(image, 1), image);
  EXPECT_EQ(adjust_contrast(image, 1), image);
  EXPECT_EQ(adjust_brightness(image, 1), image);
  EXPECT_EQ(adjust_sharpness(image, 1), image);
  for (const auto filter : {Resample::kNearest, Resample::kBilinear, Resample::kBicubic}) {
    EXPECT_EQ(transform_affine(image, {}, filter, {}), image);
  }
  EXPECT_EQ(posterize(image, 0).pixels, std::vector<std::uint8_t>(image.pixels.size(), 0));
}

TEST(ColorOps, FlatPicturesSurvive) {
  Image flat(5, 5);
  std::fill(flat.pixels.begin(), flat.pixels.end(), std::uint8_t{77});
  EXPECT_EQ(autocontrast(flat), flat);
  EXPECT_EQ(equalize(flat), flat);
  EXPECT_EQ(adjust_sharpness(flat, 1.9f), flat);
  EXPECT_EQ(adjust_contrast(flat, 0.1f), flat);
}

TEST(Affine, ShiftMovesWholePixelsAndFills) {
  Image image(6, 4);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = std::uint8_t(i);
  const Color fill{1, 2, 3};
  const Image out = transform_affine(image, {1, 0, 2, 0, 1, 0}, Resample::kBicubic, fill);
  EXPECT_EQ(out.at(0, 1)[0], image.at(2, 1)[0]);
  EXPECT_EQ(out.at(3, 2)[2], image.at(5, 2)[2]);
  EXPECT_EQ(out.at(4, 0)[0], 1);
  EXPECT_EQ(out.at(5, 3)[2], 3);
}

}  // namespace
}  // namespace addp
