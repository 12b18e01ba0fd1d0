#include "nn/kernel/channel_kernels.h"

#include <algorithm>

#include "nn/kernel/simd.h"

namespace addp {
namespace {

using namespace simd;

// Pixels whose sums may stay in float, and that stay in the first cache while all channels pass.
constexpr std::int64_t kBlock = 64;

// The channels of a vector; the last vector of a row may be shorter.
struct Lanes {
  std::int64_t first, count;

  ADDP_INLINE Floats read(const float* row) const {
    if (count == kLanes) return load<Floats>(row + first);
    Floats v{};
    for (std::int64_t i = 0; i < count; ++i) v[i] = row[first + i];
    return v;
  }
  ADDP_INLINE void write(float* row, const Floats& v) const {
    if (count == kLanes) return store(row + first, v);
    for (std::int64_t i = 0; i < count; ++i) row[first + i] = v[i];
  }
  ADDP_INLINE void add(double* totals, const Floats& v) const {
    for (std::int64_t i = 0; i < count; ++i) totals[first + i] += v[i];
  }
};

// Calls body(first pixel, end, lanes) for blocks of pixels and, within them, for
// vectors of channels.
template <class Body>
ADDP_INLINE void for_blocks(ChannelSpan span, const Body& body) {
  for (std::int64_t first = 0; first < span.pixels; first += kBlock) {
    const std::int64_t end = std::min(first + kBlock, span.pixels);
    for (std::int64_t c = 0; c < span.channels; c += kLanes) {
      body(first, end, Lanes{c, std::min(kLanes, span.channels - c)});
    }
  }
}

ADDP_INLINE Floats swish_slope(const Floats& y) {
  const Floats s = sigmoid(y);
  return s * (y * (1.0F - s) + 1.0F);
}

ADDP_INLINE void sums_body(const float* x, ChannelSpan span, const float* shift, double* sums,
                           double* squares) {
  for_blocks(
      span, [&](std::int64_t first, std::int64_t end, Lanes lanes) __attribute__((always_inline)) {
        const Floats origin = lanes.read(shift);
        Floats s{}, q{};
        for (std::int64_t p = first; p < end; ++p) {
          const Floats d = lanes.read(x + p * span.channels) - origin;
          s += d;
          q += d * d;
        }
        lanes.add(sums, s);
        lanes.add(squares, q);
      });
}

ADDP_INLINE void swish_body(const float* x, float* out, ChannelSpan span, const float* scale,
                            const float* offset) {
  for_blocks(
      span, [&](std::int64_t first, std::int64_t end, Lanes lanes) __attribute__((always_inline)) {
        const Floats a = lanes.read(scale), b = lanes.read(offset);
        for (std::int64_t p = first; p < end; ++p) {
          const Floats y = a * lanes.read(x + p * span.channels) + b;
          lanes.write(out + p * span.channels, y * sigmoid(y));
        }
      });
}

ADDP_INLINE void swish_sums_body(const float* x, const float* outer, ChannelSpan span,
                                 const float* scale, const float* offset, const float* mean,
                                 double* sums, double* products) {
  for_blocks(
      span, [&](std::int64_t first, std::int64_t end, Lanes lanes) __attribute__((always_inline)) {
        const Floats a = lanes.read(scale), b = lanes.read(offset), m = lanes.read(mean);
        Floats s{}, d{};
        for (std::int64_t p = first; p < end; ++p) {
          const Floats value = lanes.read(x + p * span.channels);
          const Floats dy = lanes.read(outer + p * span.channels) * swish_slope(a * value + b);
          s += dy;
          d += dy * (value - m);
        }
        lanes.add(sums, s);
        lanes.add(products, d);
      });
}

ADDP_INLINE void swish_gradient_body(const float* x, const float* outer, float* out,
                                     ChannelSpan span, const float* scale, const float* offset,
                                     const float* slope, const float* level) {
  for_blocks(
      span, [&](std::int64_t first, std::int64_t end, Lanes lanes) __attribute__((always_inline)) {
        const Floats a = lanes.read(scale), b = lanes.read(offset);
        const Floats k = lanes.read(slope), l = lanes.read(level);
        for (std::int64_t p = first; p < end; ++p) {
          const Floats value = lanes.read(x + p * span.channels);
          const Floats dy = lanes.read(outer + p * span.channels) * swish_slope(a * value + b);
          lanes.write(out + p * span.channels, a * dy + k * value + l);
        }
      });
}

ADDP_AVX2 void sums_avx2(const float* x, ChannelSpan span, const float* shift, double* sums,
                         double* squares) {
  sums_body(x, span, shift, sums, squares);
}

ADDP_AVX2 void swish_avx2(const float* x, float* out, ChannelSpan span, const float* scale,
                          const float* offset) {
  swish_body(x, out, span, scale, offset);
}

ADDP_AVX2 void swish_sums_avx2(const float* x, const float* outer, ChannelSpan span,
                               const float* scale, const float* offset, const float* mean,
                               double* sums, double* products) {
  swish_sums_body(x, outer, span, scale, offset, mean, sums, products);
}

ADDP_AVX2 void swish_gradient_avx2(const float* x, const float* outer, float* out, ChannelSpan span,
                                   const float* scale, const float* offset, const float* slope,
                                   const float* level) {
  swish_gradient_body(x, outer, out, span, scale, offset, slope, level);
}

}  // namespace

void channel_sums(const float* x, ChannelSpan span, const float* shift, double* sums,
                  double* squares) {
  if (has_avx2()) return sums_avx2(x, span, shift, sums, squares);
  sums_body(x, span, shift, sums, squares);
}

void channel_swish(const float* x, float* out, ChannelSpan span, const float* scale,
                   const float* offset) {
  if (has_avx2()) return swish_avx2(x, out, span, scale, offset);
  swish_body(x, out, span, scale, offset);
}

void channel_swish_sums(const float* x, const float* outer, ChannelSpan span, const float* scale,
                        const float* offset, const float* mean, double* sums, double* products) {
  if (has_avx2()) return swish_sums_avx2(x, outer, span, scale, offset, mean, sums, products);
  swish_sums_body(x, outer, span, scale, offset, mean, sums, products);
}

void channel_swish_gradient(const float* x, const float* outer, float* out, ChannelSpan span,
                            const float* scale, const float* offset, const float* slope,
                            const float* level) {
  if (has_avx2()) return swish_gradient_avx2(x, outer, out, span, scale, offset, slope, level);
  swish_gradient_body(x, outer, out, span, scale, offset, slope, level);
}

}  // namespace addp
