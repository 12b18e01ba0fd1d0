// Loops over pictures whose channels lie side by side ("channels last"): [pixels, channels]. The
// parts of a fused group norm and swish, see nn/kernel/group_norm.h. `Element` is float or Bf16.
#pragma once

#include <cstdint>

#include "nn/kernel/simd/bf16.h"

namespace addp {

struct ChannelSpan {
  std::int64_t pixels = 0;
  std::int64_t channels = 0;
};

// sums[c] += sum of x - shift[c], squares[c] += sum of (x - shift[c])^2. A shift near the mean
// keeps the variance from cancelling.
template <class Element>
void channel_sums(const Element* x, ChannelSpan span, const Element* shift, double* sums,
                  double* squares);

// out = swish(y), y = scale[c] x + offset[c]
template <class Element>
void channel_swish(const Element* x, Element* out, ChannelSpan span, const float* scale,
                   const float* offset);

// out = dy = outer * swish'(y); sums[c] += sum of dy, products[c] += sum of dy (x - mean[c]).
template <class Element>
void channel_swish_slope(const Element* x, const Element* outer, Element* out, ChannelSpan span,
                         const float* scale, const float* offset, const float* mean, double* sums,
                         double* products);

// out = scale[c] out + slope[c] x + level[c]
template <class Element>
void channel_mix(const Element* x, Element* out, ChannelSpan span, const float* scale,
                 const float* slope, const float* level);

}  // namespace addp
