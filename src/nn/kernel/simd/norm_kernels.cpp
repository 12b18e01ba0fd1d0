#include "nn/kernel/simd/norm_kernels.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "nn/kernel/simd/simd.h"

namespace addp {
namespace {

#define ADDP_BODIES "nn/kernel/simd/norm_bodies.h"
#include "nn/kernel/simd/both_widths.h"

ADDP_KERNEL(norm)
ADDP_KERNEL(norm_backward)
ADDP_KERNEL(keep)
ADDP_KERNEL(add)
ADDP_KERNEL(gelu)
ADDP_KERNEL(gelu_backward)

}  // namespace

template <class Element>
void norm_rows(const NormRows& norm, const float* x, const Element* branch,
               const Dropping& dropping, float* sum, Element* out, const RowStatistics& found) {
  on_processor_norm(norm, x, branch, dropping, sum, out, found);
}

template <class Element>
void norm_rows_backward(const NormRows& norm, const float* x, const Element* outer,
                        const float* through, const RowStatistics& found, const Dropping& dropping,
                        float* d_x, Element* d_branch, float* d_weight, float* d_bias) {
  on_processor_norm_backward(norm, x, outer, through, found, dropping, d_x, d_branch, d_weight,
                             d_bias);
}

template <class Element>
void add_span(const float* x, const Element* branch, float* sum, std::int64_t first,
              std::int64_t count, const Dropping& dropping) {
  on_processor_add(x, branch, sum, first, count, dropping);
}

template <class From, class To>
void keep_span(const From* in, To* out, std::int64_t first, std::int64_t count,
               const Dropping& dropping) {
  on_processor_keep(in, out, first, count, dropping);
}

template <class Element>
void gelu_span(const Element* x, Element* out, std::int64_t first, std::int64_t count,
               const Dropping& dropping) {
  on_processor_gelu(x, out, first, count, dropping);
}

template <class Element>
void gelu_span_backward(const Element* x, const Element* outer, Element* out, std::int64_t first,
                        std::int64_t count, const Dropping& dropping) {
  on_processor_gelu_backward(x, outer, out, first, count, dropping);
}

#define ADDP_NORM_KERNELS(Element)                                                                \
  template void norm_rows(const NormRows&, const float*, const Element*, const Dropping&, float*, \
                          Element*, const RowStatistics&);                                        \
  template void norm_rows_backward(const NormRows&, const float*, const Element*, const float*,   \
                                   const RowStatistics&, const Dropping&, float*, Element*,       \
                                   float*, float*);                                               \
  template void add_span(const float*, const Element*, float*, std::int64_t, std::int64_t,        \
                         const Dropping&);                                                        \
  template void keep_span(const float*, Element*, std::int64_t, std::int64_t, const Dropping&);   \
  template void gelu_span(const Element*, Element*, std::int64_t, std::int64_t, const Dropping&); \
  template void gelu_span_backward(const Element*, const Element*, Element*, std::int64_t,        \
                                   std::int64_t, const Dropping&);
ADDP_NORM_KERNELS(float)
ADDP_NORM_KERNELS(Bf16)
#undef ADDP_NORM_KERNELS

}  // namespace addp
