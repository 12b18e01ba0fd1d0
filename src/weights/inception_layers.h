// The convolutions of the FID network, in the order of the published file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace addp {

struct InceptionLayer {
  std::string name;
  std::int64_t in, out, kernel_height, kernel_width;
  std::int64_t stride = 1;
  bool same_padding = true;  // false: none
};

const std::vector<InceptionLayer>& inception_layers();  // 94 of them

inline constexpr std::int64_t kInceptionFeatures = 2048;
inline constexpr std::int64_t kInceptionClasses = 1008;

}  // namespace addp
