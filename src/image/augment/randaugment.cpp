#include "image/augment/randaugment.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "image/augment/color_ops.h"

namespace addp {
namespace {

constexpr double kMaxMagnitude = 10;

}  // namespace

double augment_argument(AugmentOp op, double magnitude, bool negative) {
  const double level = magnitude / kMaxMagnitude;
  const double sign = negative ? -1 : 1;
  switch (op) {
    case AugmentOp::kRotate:
      return sign * level * 30;
    case AugmentOp::kPosterize:
      return 4 - static_cast<int>(level * 4);
    case AugmentOp::kSolarize:
      return 256 - static_cast<int>(level * 256);
    case AugmentOp::kSolarizeAdd:
      return std::min(128, static_cast<int>(level * 110));
    case AugmentOp::kColor:
    case AugmentOp::kContrast:
    case AugmentOp::kBrightness:
    case AugmentOp::kSharpness:
      return std::max(0.1, 1 + sign * level * 0.9);
    case AugmentOp::kShearX:
    case AugmentOp::kShearY:
      return sign * level * 0.3;
    case AugmentOp::kTranslateX:
    case AugmentOp::kTranslateY:
      return sign * level * 0.45;
    default:
      return 0;
  }
}

Image apply_augment(const Image& image, AugmentOp op, double argument,
                    const AugmentGeometry& geometry) {
  const auto warp = [&](const AffineMap& map) {
    return transform_affine(image, map, geometry.filter, geometry.fill);
  };
  const float factor = static_cast<float>(argument);
  switch (op) {
    case AugmentOp::kAutoContrast:
      return autocontrast(image);
    case AugmentOp::kEqualize:
      return equalize(image);
    case AugmentOp::kInvert:
      return invert(image);
    case AugmentOp::kRotate:
      return rotate(image, argument, geometry.filter, geometry.fill);
    case AugmentOp::kPosterize:
      return posterize(image, static_cast<int>(argument));
    case AugmentOp::kSolarize:
      return solarize(image, static_cast<int>(argument));
    case AugmentOp::kSolarizeAdd:
      return solarize_add(image, static_cast<int>(argument));
    case AugmentOp::kColor:
      return adjust_color(image, factor);
    case AugmentOp::kContrast:
      return adjust_contrast(image, factor);
    case AugmentOp::kBrightness:
      return adjust_brightness(image, factor);
    case AugmentOp::kSharpness:
      return adjust_sharpness(image, factor);
    case AugmentOp::kShearX:
      return warp({1, argument, 0, 0, 1, 0});
    case AugmentOp::kShearY:
      return warp({1, 0, 0, argument, 1, 0});
    case AugmentOp::kTranslateX:
      return warp({1, 0, argument * image.width, 0, 1, 0});
    case AugmentOp::kTranslateY:
      return warp({1, 0, 0, 0, 1, argument * image.height});
  }
  throw UsageError("no augmentation number {}", static_cast<int>(op));
}

RandAugment::RandAugment(const RandAugmentOptions& options) : options_(options) {
  if (options.magnitude < 0 || options.magnitude > kMaxMagnitude || options.operations < 0) {
    throw UsageError("RandAugment of {} operations at magnitude {}: choose at least 0 and 0 to 10",
                     options.operations, options.magnitude);
  }
}

Image RandAugment::operator()(Image image, RandomStream& random) const {
  for (int i = 0; i < options_.operations; ++i) {
    const auto op = static_cast<AugmentOp>(random.integer(0, kAugmentOps - 1));
    if (!random.chance(options_.probability)) continue;
    double magnitude = options_.magnitude;
    if (options_.magnitude_deviation > 0)
      magnitude += options_.magnitude_deviation * random.normal();
    magnitude = std::clamp(magnitude, 0.0, kMaxMagnitude);
    const double argument = augment_argument(op, magnitude, random.chance(0.5));
    image = apply_augment(image, op, argument, options_.geometry);
  }
  return image;
}

}  // namespace addp
