// The two inner loops of resampling, in a portable and an AVX2 form with equal results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace addp {

// Pillow's fixed point: a weight of 1 is 1 << 22.
inline constexpr int kWeightBits = 32 - 8 - 2;

// Which input samples make which output sample, for one axis: output i is the sum of weight[i, t]
// times input first[i] + t. All outputs have the same number of taps, which keeps the loops free of
// branches that cannot be predicted; the weights of those that need fewer are 0.
struct Taps {
  int count = 0;                     // even
  std::vector<int> first;            // [outputs]
  std::vector<std::int32_t> weight;  // [outputs, count]
};

inline constexpr int kRowsAtOnce = 4;

struct ResizeKernels {
  // kRowsAtOnce rows of RGB along x. The input must be readable for 8 bytes behind its last tap.
  void (*rows)(const std::uint8_t* const* in, std::uint8_t* const* out, const Taps& taps);
  // out[i] = sum over t < count of weight[t] * in[t * stride + i], for i < bytes.
  void (*column)(const std::uint8_t* in, std::size_t stride, const std::int32_t* weight, int count,
                 std::uint8_t* out, std::size_t bytes);
};

const ResizeKernels& portable_kernels();
const ResizeKernels* avx2_kernels();  // nullptr where the processor lacks AVX2
inline const ResizeKernels& best_kernels() {
  static const ResizeKernels& best = avx2_kernels() ? *avx2_kernels() : portable_kernels();
  return best;
}

}  // namespace addp
