#include "image/resize/resize_kernels.h"

#include <algorithm>
#include <cstddef>

namespace addp {
namespace {

constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);

std::uint8_t round_to_byte(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

void rows_portable(const std::uint8_t* const* in, std::uint8_t* const* out, const Taps& taps) {
  for (int row = 0; row < kRowsAtOnce; ++row) {
    const std::int32_t* weight = taps.weight.data();
    std::uint8_t* to = out[row];
    for (std::size_t x = 0; x < taps.first.size(); ++x, to += 3, weight += taps.count) {
      const std::uint8_t* pixel = in[row] + std::size_t(taps.first[x]) * 3;
      std::int32_t r = kHalf, g = kHalf, b = kHalf;
      for (int t = 0; t < taps.count; ++t, pixel += 3) {
        r += pixel[0] * weight[t];
        g += pixel[1] * weight[t];
        b += pixel[2] * weight[t];
      }
      to[0] = round_to_byte(r);
      to[1] = round_to_byte(g);
      to[2] = round_to_byte(b);
    }
  }
}

void column_portable(const std::uint8_t* in, std::size_t stride, const std::int32_t* weight,
                     int count, std::uint8_t* out, std::size_t bytes) {
  constexpr std::size_t kLanes = 64;
  std::int32_t sum[kLanes];
  for (std::size_t start = 0; start < bytes; start += kLanes) {
    const std::size_t lanes = std::min(kLanes, bytes - start);
    std::fill_n(sum, lanes, kHalf);
    for (int t = 0; t < count; ++t) {
      const std::uint8_t* line = in + std::size_t(t) * stride + start;
      for (std::size_t i = 0; i < lanes; ++i) sum[i] += line[i] * weight[t];
    }
    for (std::size_t i = 0; i < lanes; ++i) out[start + i] = round_to_byte(sum[i]);
  }
}

}  // namespace

const ResizeKernels& portable_kernels() {
  static const ResizeKernels kernels{rows_portable, column_portable};
  return kernels;
}

}  // namespace addp
