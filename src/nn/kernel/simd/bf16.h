// bfloat16 in memory, as the kernels of this folder read and write it. They compute in float32.
#pragma once

#include <bit>
#include <cstdint>

namespace addp {

struct Bf16 {
  std::uint16_t bits;
};

inline float value_of(float x) { return x; }
inline float value_of(Bf16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16); }

}  // namespace addp
