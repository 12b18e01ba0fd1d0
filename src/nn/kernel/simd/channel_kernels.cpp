#include "nn/kernel/simd/channel_kernels.h"

#include <algorithm>

#include "nn/kernel/simd/simd.h"

namespace addp {
namespace {

#define ADDP_BODIES "nn/kernel/simd/channel_bodies.h"
#include "nn/kernel/simd/both_widths.h"

ADDP_KERNEL(sums)
ADDP_KERNEL(swish)
ADDP_KERNEL(slope)
ADDP_KERNEL(mix)

}  // namespace

template <class Element>
void channel_sums(const Element* x, ChannelSpan span, const Element* shift, double* sums,
                  double* squares) {
  on_processor_sums(x, span, shift, sums, squares);
}

template <class Element>
void channel_swish(const Element* x, Element* out, ChannelSpan span, const float* scale,
                   const float* offset) {
  on_processor_swish(x, out, span, scale, offset);
}

template <class Element>
void channel_swish_slope(const Element* x, const Element* outer, Element* out, ChannelSpan span,
                         const float* scale, const float* offset, const float* mean, double* sums,
                         double* products) {
  on_processor_slope(x, outer, out, span, scale, offset, mean, sums, products);
}

template <class Element>
void channel_mix(const Element* x, Element* out, ChannelSpan span, const float* scale,
                 const float* slope, const float* level) {
  on_processor_mix(x, out, span, scale, slope, level);
}

#define ADDP_CHANNEL_KERNELS(Element)                                                             \
  template void channel_sums(const Element*, ChannelSpan, const Element*, double*, double*);      \
  template void channel_swish(const Element*, Element*, ChannelSpan, const float*, const float*); \
  template void channel_swish_slope(const Element*, const Element*, Element*, ChannelSpan,        \
                                    const float*, const float*, const float*, double*, double*);  \
  template void channel_mix(const Element*, Element*, ChannelSpan, const float*, const float*,    \
                            const float*);
ADDP_CHANNEL_KERNELS(float)
ADDP_CHANNEL_KERNELS(Bf16)
#undef ADDP_CHANNEL_KERNELS

}  // namespace addp
