// The fifteen corruptions of ImageNet-C (Hendrycks & Dietterich, "Benchmarking neural network
// robustness to common corruptions and perturbations", 2019) at their five severities, made on the
// fly from the published definitions and strengths. What differs from the files that can be
// downloaded:
//   - The strengths were chosen for 224 x 224. Lengths (blur radii, displacements, zooms of
//   textures) are
//     scaled by the shorter side over 224, so that a 64 x 64 picture is damaged in the same
//     proportion.
//   - Frost is drawn: the original lays photographs of ice over the picture, which are not ours to
//   ship.
//   - The random numbers are ours: the same stream gives the same picture everywhere.
// Figures on them are therefore comparable among each other, and close to but not the same as those
// on the published files; a folder of those can be evaluated instead.
#pragma once

#include <array>
#include <string_view>

#include "base/random.h"
#include "image/image.h"

namespace addp {

enum class Corruption {
  kGaussianNoise,
  kShotNoise,
  kImpulseNoise,
  kDefocusBlur,
  kGlassBlur,
  kMotionBlur,
  kZoomBlur,
  kSnow,
  kFrost,
  kFog,
  kBrightness,
  kContrast,
  kElasticTransform,
  kPixelate,
  kJpegCompression,
};

inline constexpr int kSeverities = 5;

struct CorruptionInfo {
  Corruption kind;
  std::string_view name;   // the folder's name in ImageNet-C
  std::string_view group;  // noise, blur, weather, digital
  double alexnet_error;    // AlexNet's mean top-1 error over the five severities, as published
};

inline constexpr std::array<CorruptionInfo, 15> kCorruptions = {{
    {Corruption::kGaussianNoise, "gaussian_noise", "noise", 0.886428},
    {Corruption::kShotNoise, "shot_noise", "noise", 0.894468},
    {Corruption::kImpulseNoise, "impulse_noise", "noise", 0.922640},
    {Corruption::kDefocusBlur, "defocus_blur", "blur", 0.819880},
    {Corruption::kGlassBlur, "glass_blur", "blur", 0.826268},
    {Corruption::kMotionBlur, "motion_blur", "blur", 0.785948},
    {Corruption::kZoomBlur, "zoom_blur", "blur", 0.798360},
    {Corruption::kSnow, "snow", "weather", 0.866816},
    {Corruption::kFrost, "frost", "weather", 0.826572},
    {Corruption::kFog, "fog", "weather", 0.819324},
    {Corruption::kBrightness, "brightness", "weather", 0.564592},
    {Corruption::kContrast, "contrast", "digital", 0.853204},
    {Corruption::kElasticTransform, "elastic_transform", "digital", 0.646056},
    {Corruption::kPixelate, "pixelate", "digital", 0.717840},
    {Corruption::kJpegCompression, "jpeg_compression", "digital", 0.606500},
}};

// A UsageError suggests the nearest name.
Corruption corruption_of(std::string_view name);

// `severity` is 1 to 5.
Image corrupt(const Image& image, Corruption kind, int severity, RandomStream random);

}  // namespace addp
