#include "image/resize/resize.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "image/resize/resize_kernels.h"

namespace addp {
namespace {

Image noise(int width, int height, std::uint64_t seed = 1) {
  RandomStream random(seed, "noise");
  Image image(width, height);
  for (auto& value : image.pixels) value = static_cast<std::uint8_t>(random.next_u32());
  return image;
}

TEST(Resize, KernelsAgree) {
  const ResizeKernels* fast = avx2_kernels();
  if (fast == nullptr) GTEST_SKIP() << "needs processor avx2";
  RandomStream random(3, "kernels");
  for (int round = 0; round < 200; ++round) {
    const int in_width = int(random.integer(1, 90)), outputs = int(random.integer(1, 70));
    Taps taps;
    taps.count = int(random.integer(1, 6)) * 2;
    for (int i = 0; i < outputs; ++i) taps.first.push_back(int(random.integer(0, in_width)));
    for (int i = 0; i < outputs * taps.count; ++i) {
      taps.weight.push_back(std::int32_t(random.integer(-(1 << 20), 1 << 20)));
    }
    const int padded = in_width + taps.count + 3;
    const Image in = noise(padded, std::max(taps.count, kRowsAtOnce), std::uint64_t(round));
    Image a(outputs, kRowsAtOnce), b = a;
    const std::uint8_t* from[kRowsAtOnce];
    std::uint8_t *to_a[kRowsAtOnce], *to_b[kRowsAtOnce];
    for (int row = 0; row < kRowsAtOnce; ++row) {
      from[row] = in.row(row);
      to_a[row] = a.row(row);
      to_b[row] = b.row(row);
    }
    portable_kernels().rows(from, to_a, taps);
    fast->rows(from, to_b, taps);
    ASSERT_EQ(a, b);
    const std::size_t bytes = std::size_t(in_width) * 3, stride = std::size_t(padded) * 3;
    std::vector<std::uint8_t> c(bytes), d(bytes);
    portable_kernels().column(in.row(0), stride, taps.weight.data(), taps.count, c.data(), bytes);
    fast->column(in.row(0), stride, taps.weight.data(), taps.count, d.data(), bytes);
    ASSERT_EQ(c, d);
  }
}

TEST(Resize, SameSizeIsTheSamePicture) {
  const Image image = noise(31, 17);
  for (const auto filter :
       {Resample::kNearest, Resample::kBox, Resample::kBilinear, Resample::kBicubic}) {
    EXPECT_EQ(resize(image, 31, 17, filter), image);
  }
}

TEST(Resize, ConstantsStay) {
  Image image(40, 30);
  std::fill(image.pixels.begin(), image.pixels.end(), std::uint8_t{173});
  for (const auto filter :
       {Resample::kNearest, Resample::kBox, Resample::kBilinear, Resample::kBicubic}) {
    for (const auto& [w, h] : {std::pair{7, 90}, {1, 1}, {400, 3}}) {
      const Image out = resize(image, w, h, filter);
      EXPECT_EQ(out.width, w);
      EXPECT_EQ(out.height, h);
      for (const auto value : out.pixels) ASSERT_EQ(value, 173);
    }
  }
}

TEST(Resize, BoxFilterAverages) {
  Image image(2, 2);
  image.pixels = {0, 10, 20, 100, 110, 120, 40, 50, 60, 60, 70, 80};
  const Image out = resize(image, 1, 1, Resample::kBox);
  EXPECT_EQ(out.pixels, (std::vector<std::uint8_t>{50, 60, 70}));
}

TEST(Resize, MirrorEqualsFlippingAfterwards) {
  const Image image = noise(53, 41);
  const Box whole{0, 0, 53, 41};
  for (const auto filter : {Resample::kNearest, Resample::kBilinear, Resample::kBicubic}) {
    for (const auto& [w, h] : {std::pair{24, 20}, {53, 20}, {24, 41}, {53, 41}, {99, 99}}) {
      Image flipped = resize(image, w, h, filter, whole);
      flip_horizontally(flipped);
      EXPECT_EQ(resize(image, w, h, filter, whole, true), flipped);
    }
  }
}

TEST(Resize, BoxOfWholePixelsSeesTheRightPart) {
  const Image image = noise(60, 50);
  const Image out = resize(image, 20, 10, Resample::kNearest, {10, 20, 30, 30});
  EXPECT_EQ(out, crop(image, {10, 20, 20, 10}));
}

TEST(Resize, BadRequestsAreRefused) {
  const Image image = noise(10, 10);
  EXPECT_THROW(resize(image, 0, 5), UsageError);
  EXPECT_THROW(resize(image, 5, 5, Resample::kBicubic, {-1, 0, 5, 5}), UsageError);
  EXPECT_THROW(resize(image, 5, 5, Resample::kBicubic, {0, 0, 11, 5}), UsageError);
  EXPECT_THROW(resize(image, 5, 5, Resample::kBicubic, {5, 5, 5, 8}), UsageError);
  EXPECT_THROW(resize(Image(), 5, 5), UsageError);
  EXPECT_THROW(crop(image, {5, 5, 6, 1}), UsageError);
  EXPECT_THROW(crop(image, {2147483647, 0, 1, 1}), UsageError);
  EXPECT_THROW(center_box(10, 10, 11), UsageError);
}

TEST(Resize, LabelsKeepTheirValues) {
  GrayImage labels(4, 2);
  labels.pixels = {1, 2, 3, 4, 5, 6, 7, 8};
  const GrayImage twice = resize_labels(labels, 8, 4);
  EXPECT_EQ(twice.row(0)[0], 1);
  EXPECT_EQ(twice.row(0)[7], 4);
  EXPECT_EQ(twice.row(3)[2], 6);
  EXPECT_EQ(resize_labels(twice, 4, 2), labels);
  flip_horizontally(labels);
  EXPECT_EQ(labels.pixels, (std::vector<std::uint8_t>{4, 3, 2, 1, 8, 7, 6, 5}));
}

TEST(Resize, AQuarterTurnGoesAgainstTheClock) {
  GrayImage labels(3, 2);
  labels.pixels = {1, 2, 3, 4, 5, 6};
  turn_quarters(labels, 1);
  EXPECT_EQ(labels.width, 2);
  EXPECT_EQ(labels.pixels, (std::vector<std::uint8_t>{3, 6, 2, 5, 1, 4}));
  const Image before = noise(5, 7);
  Image image = before;
  turn_quarters(image, 3);
  EXPECT_EQ(image.at(6, 0)[1], before.at(0, 0)[1]);  // with the clock: top left to top right
  turn_quarters(image, 1);
  EXPECT_EQ(image.pixels, before.pixels);
}

TEST(Resize, CentreBoxRoundsAsPythonDoes) {
  EXPECT_EQ(center_box(52, 33, 32), (PixelBox{10, 0, 32, 32}));
  EXPECT_EQ(center_box(35, 37, 32), (PixelBox{2, 2, 32, 32}));
}

// Kernels read past a row's end; a narrow picture has little behind its last rows.
TEST(Resize, NarrowPicturesKeepTheirRows) {
  for (int height = 1; height <= 9; ++height) {
    const Image narrow = noise(1, height);
    for (const int width : {2, 3, 7, 40}) {
      const Image wide = resize(narrow, width, height, Resample::kBicubic);
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          for (int c = 0; c < 3; ++c) EXPECT_EQ(wide.at(x, y)[c], narrow.at(0, y)[c]);
        }
      }
    }
  }
}

TEST(Resize, HugeReductionIsExactEnough) {
  Image image(5000, 1);
  for (std::size_t x = 0; x < 5000; ++x) {
    for (std::size_t c = 0; c < 3; ++c) image.pixels[x * 3 + c] = x < 2500 ? 0 : 255;
  }
  EXPECT_NEAR(resize(image, 1, 1, Resample::kBilinear).pixels[0], 127, 1);
}

}  // namespace
}  // namespace addp
