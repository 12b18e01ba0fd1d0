// Loops over pictures whose channels lie side by side ("channels last"): [pixels, channels]. The
// parts of a fused group norm and swish, see nn/kernel/group_norm.h.
#pragma once

#include <cstdint>

namespace addp {

struct ChannelSpan {
  std::int64_t pixels = 0;
  std::int64_t channels = 0;
};

// sums[c] += sum of x - shift[c], squares[c] += sum of (x - shift[c])^2. A shift near the mean
// keeps the variance from cancelling.
void channel_sums(const float* x, ChannelSpan span, const float* shift, double* sums,
                  double* squares);

// out = swish(y), y = scale[c] x + offset[c]
void channel_swish(const float* x, float* out, ChannelSpan span, const float* scale,
                   const float* offset);

// With dy = outer * swish'(y): sums[c] += sum of dy, products[c] += sum of dy (x - mean[c]).
void channel_swish_sums(const float* x, const float* outer, ChannelSpan span, const float* scale,
                        const float* offset, const float* mean, double* sums, double* products);

// out = scale[c] dy + slope[c] x + level[c]
void channel_swish_gradient(const float* x, const float* outer, float* out, ChannelSpan span,
                            const float* scale, const float* offset, const float* slope,
                            const float* level);

}  // namespace addp
