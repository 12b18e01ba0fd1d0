// The two inner loops of resampling, in a portable and an AVX2 form with equal results.
#pragma once

#include <cstdint>
#include <vector>

namespace addp {

// Pillow's fixed point: a weight of 1 is 1 << 22.
inline constexpr int kWeightBits = 32 - 8 - 2;

// Which input samples make which output sample, for one axis.
struct Taps {
  int per_output = 0;                // room for weights an output has, a multiple of 2
  std::vector<int> first, count;     // [outputs]
  std::vector<std::int32_t> weight;  // [outputs, per_output], zero beyond count
};

struct ResizeKernels {
  // One row of RGB. `in` has kRowPadding readable bytes behind the last pixel, `out` as many
  // writable ones.
  void (*row)(const std::uint8_t* in, std::uint8_t* out, const Taps& taps);
  // out[i] = sum over t < count of weight[t] * in[t * stride + i], for i < bytes.
  void (*column)(const std::uint8_t* in, std::size_t stride, const std::int32_t* weight, int count,
                 std::uint8_t* out, std::size_t bytes);
};

inline constexpr std::size_t kRowPadding = 32;

const ResizeKernels& portable_kernels();
const ResizeKernels* avx2_kernels();  // nullptr where the processor lacks AVX2
inline const ResizeKernels& best_kernels() {
  static const ResizeKernels& best = avx2_kernels() ? *avx2_kernels() : portable_kernels();
  return best;
}

}  // namespace addp
