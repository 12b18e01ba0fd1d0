// Mean and deviation of ImageNet's pixels in [0, 1], red, green, blue: what encoders are given is
// normalised by them.
#pragma once

#include <array>

namespace addp {

inline constexpr std::array<float, 3> kImageNetMean{0.485F, 0.456F, 0.406F};
inline constexpr std::array<float, 3> kImageNetDeviation{0.229F, 0.224F, 0.225F};

}  // namespace addp
