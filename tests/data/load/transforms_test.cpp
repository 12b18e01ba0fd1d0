// The training transform of classifiers.
#include "data/load/transforms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace addp {
namespace {

Sample grey_sample(int width, int height) {
  Sample sample;
  sample.name = "grey";
  sample.image = Image(width, height);
  std::fill(sample.image.pixels.begin(), sample.image.pixels.end(), std::uint8_t{51});
  return sample;
}

std::vector<float> transformed(const AugmentTransformOptions& options, std::uint64_t index) {
  Sample sample = grey_sample(40, 30);
  RandomStream random(1, "augment", 0, index);
  std::vector<float> pixels(3 * 32 * 32);
  BatchItem item;
  item.floats = pixels;
  augment_transform(options)(sample, random, item);
  return pixels;
}

AugmentTransformOptions erasing_only(double probability) {
  AugmentTransformOptions options;
  options.crop.size = 32;
  options.erasing.probability = probability;
  return options;
}

TEST(AugmentTransform, ErasesAsOftenAsAskedWithTheNoiseOfPictures) {
  int erased = 0;
  double sum = 0, squares = 0, count = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const auto pixels = transformed(erasing_only(0.25), i);
    bool any = false;
    for (std::size_t k = 0; k < 32 * 32; ++k) {  // the red plane
      if (std::abs(pixels[k] - 0.2F) < 1e-4F) continue;
      any = true;
      sum += pixels[k];
      squares += double(pixels[k]) * pixels[k];
      ++count;
    }
    erased += any ? 1 : 0;
  }
  EXPECT_NEAR(erased, 75, 25);
  const double mean = sum / count;
  EXPECT_NEAR(mean, 0.485, 0.01);
  EXPECT_NEAR(std::sqrt(squares / count - mean * mean), 0.229, 0.01);
}

TEST(AugmentTransform, ErasedPartsHaveTheAllowedArea) {
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto pixels = transformed(erasing_only(1), i);
    int changed = 0;
    for (std::size_t k = 0; k < 32 * 32; ++k) changed += std::abs(pixels[k] - 0.2F) > 1e-4F ? 1 : 0;
    EXPECT_LE(changed, 32 * 32 * 0.36);
  }
}

TEST(AugmentTransform, IsAFunctionOfTheStream) {
  AugmentTransformOptions options = erasing_only(0.5);
  options.augment = RandAugmentOptions{};
  EXPECT_EQ(transformed(options, 3), transformed(options, 3));
}

// The corner in which the only white pixel of a picture lies, when all of the picture is kept.
std::pair<bool, bool> place_of_the_corner(const CropTransformOptions& options, std::uint64_t seed) {
  Sample sample;
  sample.image = Image(8, 8);
  sample.image.at(0, 0)[0] = 255;
  RandomStream random(seed, "corner");
  BatchItem item;
  random_crop_transform(options)(sample, random, item);
  for (const int y : {0, 7}) {
    for (const int x : {0, 7}) {
      if (item.image.at(x, y)[0] == 255) return {x > 0, y > 0};
    }
  }
  ADD_FAILURE() << "the corner is gone";
  return {};
}

TEST(RandomCrop, WholePicturesAreStillMirroredAndTurned) {
  CropTransformOptions options;
  options.size = 8;
  options.crop.min_area = 1;
  std::map<std::pair<bool, bool>, int> mirrored, turned;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    options.turn = false;
    ++mirrored[place_of_the_corner(options, seed)];
    options.turn = true;
    ++turned[place_of_the_corner(options, seed)];
  }
  EXPECT_EQ(mirrored.size(), 2U);
  EXPECT_NEAR((mirrored[{false, false}]), 100, 30);
  EXPECT_NEAR((mirrored[{true, false}]), 100, 30);
  EXPECT_EQ(turned.size(), 4U);
  for (const auto& [place, count] : turned) EXPECT_NEAR(count, 50, 25);
  options.flip = options.turn = false;
  EXPECT_EQ(place_of_the_corner(options, 1), (std::pair{false, false}));
}

TEST(MiddleCrop, KeepsTheAskedShareOfTheSide) {
  Sample sample;
  sample.image = Image(40, 40);  // white middle of half the side
  for (int y = 10; y < 30; ++y) std::fill_n(sample.image.at(10, y), 60, std::uint8_t{255});
  CropTransformOptions options;
  options.size = 8;
  options.middle = 0.5;
  BatchItem item;
  RandomStream random(1, "none");
  middle_crop_transform(options)(sample, random, item);
  EXPECT_EQ(item.image.width, 8);
  for (const std::uint8_t value : item.image.pixels) EXPECT_EQ(value, 255);
}

}  // namespace
}  // namespace addp
