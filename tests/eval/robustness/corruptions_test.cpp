#include "image/augment/corruptions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "eval/robustness/robustness.h"
#include "image/augment/float_image.h"

namespace addp {
namespace {

// Shapes and shades of all kinds, so that every corruption has something to change.
Image test_picture(int width, int height) {
  Image image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const bool square = (x / 9 + y / 9) % 2 == 0;
      image.at(x, y)[0] = std::uint8_t(square ? 200 : 40);
      image.at(x, y)[1] = std::uint8_t(40 + 160 * x / width);
      image.at(x, y)[2] = std::uint8_t(40 + 160 * y / height);
    }
  }
  return image;
}

double mean_square_error(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    sum += std::pow(double(a.pixels[i]) - double(b.pixels[i]), 2);
  }
  return sum / double(a.pixels.size());
}

TEST(Corruptions, EachChangesThePictureAndIsReproducible) {
  const Image image = test_picture(96, 80);
  for (const auto& info : kCorruptions) {
    const auto once = corrupt(image, info.kind, 3, RandomStream(1, "c"));
    EXPECT_EQ(once.width, image.width);
    EXPECT_EQ(once.height, image.height);
    EXPECT_GT(mean_square_error(once, image), 5) << info.name;
    EXPECT_EQ(once, corrupt(image, info.kind, 3, RandomStream(1, "c"))) << info.name;
  }
}

TEST(Corruptions, RandomOnesDependOnTheStream) {
  const Image image = test_picture(64, 64);
  for (const auto kind : {Corruption::kGaussianNoise, Corruption::kShotNoise,
                          Corruption::kImpulseNoise, Corruption::kGlassBlur, Corruption::kSnow,
                          Corruption::kFrost, Corruption::kFog, Corruption::kElasticTransform}) {
    EXPECT_NE(corrupt(image, kind, 2, RandomStream(1, "c")),
              corrupt(image, kind, 2, RandomStream(2, "c")));
  }
}

TEST(Corruptions, DamageGrowsWithSeverity) {
  const Image image = test_picture(128, 128);
  for (const auto kind :
       {Corruption::kGaussianNoise, Corruption::kShotNoise, Corruption::kImpulseNoise,
        Corruption::kDefocusBlur, Corruption::kZoomBlur, Corruption::kFog, Corruption::kBrightness,
        Corruption::kContrast, Corruption::kPixelate, Corruption::kJpegCompression}) {
    double last = 0;
    for (int severity = 1; severity <= kSeverities; ++severity) {
      const double error =
          mean_square_error(corrupt(image, kind, severity, RandomStream(5, "c")), image);
      // Fog of another seed-dependent cloud and pixel grids are not strictly ordered:
      // allow a little.
      EXPECT_GT(error, 0.8 * last) << int(kind) << " severity " << severity;
      last = error;
    }
  }
}

TEST(Corruptions, NoiseHasThePublishedStrength) {
  Image grey(200, 200);
  std::fill(grey.pixels.begin(), grey.pixels.end(), std::uint8_t(128));
  const auto gaussian = corrupt(grey, Corruption::kGaussianNoise, 1, RandomStream(3, "c"));
  EXPECT_NEAR(std::sqrt(mean_square_error(gaussian, grey)) / 255, 0.08, 0.002);
  const auto shot = corrupt(grey, Corruption::kShotNoise, 1, RandomStream(3, "c"));
  EXPECT_NEAR(std::sqrt(mean_square_error(shot, grey)) / 255, std::sqrt(128.0 / 255 / 60), 0.002);
  const auto impulse = corrupt(grey, Corruption::kImpulseNoise, 5, RandomStream(3, "c"));
  double changed = 0;
  for (const auto value : impulse.pixels) changed += value != 128;
  EXPECT_NEAR(changed / double(impulse.pixels.size()), 0.27, 0.01);
}

TEST(Corruptions, BlursKeepTheMeanOfAFlatPicture) {
  Image grey(60, 50);
  std::fill(grey.pixels.begin(), grey.pixels.end(), std::uint8_t(77));
  for (const auto kind : {Corruption::kDefocusBlur, Corruption::kGlassBlur, Corruption::kMotionBlur,
                          Corruption::kZoomBlur, Corruption::kElasticTransform,
                          Corruption::kPixelate, Corruption::kContrast}) {
    EXPECT_EQ(corrupt(grey, kind, 5, RandomStream(1, "c")), grey) << int(kind);
  }
}

TEST(Corruptions, PicturesOfAnySizeSurvive) {
  for (const auto& [width, height] : {std::pair{1, 1}, {2, 3}, {31, 5}, {300, 17}}) {
    const Image image = test_picture(width, height);
    for (const auto& info : kCorruptions) {
      for (const int severity : {1, 5}) {
        const auto out = corrupt(image, info.kind, severity, RandomStream(1, "c"));
        EXPECT_EQ(out.pixels.size(), image.pixels.size()) << info.name;
      }
    }
  }
}

TEST(Corruptions, NamesAndSeveritiesAreChecked) {
  for (const auto& info : kCorruptions) EXPECT_EQ(corruption_of(info.name), info.kind);
  try {
    corruption_of("motion_blurr");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("motion_blur'"), std::string::npos);
  }
  const Image image = test_picture(8, 8);
  EXPECT_THROW(corrupt(image, Corruption::kFog, 0, RandomStream(1, "c")), UsageError);
  EXPECT_THROW(corrupt(image, Corruption::kFog, 6, RandomStream(1, "c")), UsageError);
  EXPECT_THROW(corrupt(Image(), Corruption::kFog, 1, RandomStream(1, "c")), UsageError);
}

TEST(FloatImage, GaussianBlurOfAnImpulseIsAGaussian) {
  FloatImage image(41, 41, 1);
  *image.at(20, 20) = 1;
  const auto blurred = gaussian_blur(image, 2);
  const double peak = double(*blurred.at(20, 20));
  EXPECT_NEAR(peak, 1 / (2 * 3.14159265 * 4), 1e-4);
  EXPECT_NEAR(double(*blurred.at(22, 20)) / peak, std::exp(-0.5), 1e-4);
  EXPECT_NEAR(double(*blurred.at(20, 23)) / peak, std::exp(-9.0 / 8), 1e-4);
}

// With a deviation far beyond the picture, mirrored edges leave the mean everywhere.
TEST(FloatImage, WideBlurGivesTheMean) {
  FloatImage image(7, 5, 2);
  float sum[2] = {0, 0};
  for (std::size_t i = 0; i < image.values.size(); ++i) {
    image.values[i] = float((i * 37) % 11);
    sum[i % 2] += image.values[i];
  }
  const auto blurred = gaussian_blur(image, 100);
  for (std::size_t i = 0; i < image.values.size(); ++i) {
    EXPECT_NEAR(blurred.values[i], sum[i % 2] / 35, 1e-3);
  }
}

TEST(Robustness, AlexNetItselfScoresOne) {
  CorruptionErrors errors;
  double mean = 0;
  for (const auto& info : kCorruptions) {
    errors[info.kind].fill(info.alexnet_error);
    mean += info.alexnet_error / double(kCorruptions.size());
  }
  const auto figures = robustness_figures(errors);
  EXPECT_NEAR(figures.normalised_error, 1, 1e-12);
  EXPECT_NEAR(figures.mean_error, mean, 1e-12);
  errors[Corruption::kFog] = {0, 0, 0, 0, 1};
  EXPECT_NEAR(robustness_figures(errors).error.at(Corruption::kFog), 0.2, 1e-12);
  errors[Corruption::kFog][2] = 1.5;
  EXPECT_THROW(robustness_figures(errors), UsageError);
  EXPECT_THROW(robustness_figures({}), UsageError);
}

}  // namespace
}  // namespace addp
