#include "nn/kernel/simd/row_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nn/kernel/simd/simd.h"

namespace addp {
namespace {

#define ADDP_BODIES "nn/kernel/simd/row_bodies.h"
#include "nn/kernel/simd/both_widths.h"

ADDP_KERNEL(cross_entropy)
ADDP_KERNEL(softmax)
ADDP_KERNEL(softmax_backward)
ADDP_KERNEL(dropout)

}  // namespace

template <class Element>
double cross_entropy_row(const CrossEntropyRow& row, const Element* logits, Element* gradient,
                         float scale) {
  return on_processor_cross_entropy(row, logits, gradient, scale);
}

template <class Element>
void softmax_rows(const SoftmaxRows& shape, const Element* scores, const Dropping& dropping,
                  Element* weights, Element* kept) {
  on_processor_softmax(shape, scores, dropping, weights, kept);
}

template <class Element>
void softmax_rows_backward(const SoftmaxRows& shape, const Element* weights, const Element* outer,
                           const Dropping& dropping, Element* out) {
  on_processor_softmax_backward(shape, weights, outer, dropping, out);
}

#define ADDP_ROW_KERNELS(Element)                                                             \
  template double cross_entropy_row(const CrossEntropyRow&, const Element*, Element*, float); \
  template void softmax_rows(const SoftmaxRows&, const Element*, const Dropping&, Element*,   \
                             Element*);                                                       \
  template void softmax_rows_backward(const SoftmaxRows&, const Element*, const Element*,     \
                                      const Dropping&, Element*);
ADDP_ROW_KERNELS(float)
ADDP_ROW_KERNELS(Bf16)
#undef ADDP_ROW_KERNELS

void dropout_span(const float* in, float* out, std::int64_t first, std::int64_t count,
                  std::uint64_t key, double rate) {
  on_processor_dropout(in, out, first, count, key, rate);
}

}  // namespace addp
