// RandAugment as timm's 'rand-m9-mstd0.5-inc1': two of fifteen operations per picture, each applied
// with probability one half at a magnitude near 9 of 10, all of them stronger with the magnitude.
#pragma once

#include <string_view>
#include <vector>

#include "base/random.h"
#include "image/image.h"
#include "image/resize/affine.h"

namespace addp {

enum class AugmentOp {
  kAutoContrast,
  kEqualize,
  kInvert,
  kRotate,
  kPosterize,
  kSolarize,
  kSolarizeAdd,
  kColor,
  kContrast,
  kBrightness,
  kSharpness,
  kShearX,
  kShearY,
  kTranslateX,
  kTranslateY,
};

inline constexpr int kAugmentOps = 15;

// timm's name: "Rotate", "PosterizeIncreasing", "TranslateXRel", ...

// The operation's argument (degrees, bits, threshold, factor, shear, share of the side) at a
// magnitude of 0 to 10. `negative` turns rotation, shear and shift the other way and makes the
// factors less than 1.
double augment_argument(AugmentOp op, double magnitude, bool negative);

struct AugmentGeometry {
  Resample filter = Resample::kBicubic;
  Color fill{124, 116, 104};  // ImageNet's mean
};

Image apply_augment(const Image& image, AugmentOp op, double argument,
                    const AugmentGeometry& geometry = {});

struct RandAugmentOptions {
  double magnitude = 9;
  double magnitude_deviation = 0.5;  // 0: always the same magnitude
  int operations = 2;                // per picture
  double probability = 0.5;          // that a drawn operation is applied
  AugmentGeometry geometry{};
};

class RandAugment {
 public:
  explicit RandAugment(const RandAugmentOptions& options = {});
  Image operator()(Image image, RandomStream& random) const;

 private:
  RandAugmentOptions options_;
};

}  // namespace addp
