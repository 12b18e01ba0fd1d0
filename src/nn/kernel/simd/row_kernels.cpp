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
ADDP_KERNEL(dropout)

}  // namespace

template <class Element>
double cross_entropy_row(const CrossEntropyRow& row, const Element* logits, Element* gradient,
                         float scale) {
  return on_processor_cross_entropy(row, logits, gradient, scale);
}

template double cross_entropy_row(const CrossEntropyRow&, const float*, float*, float);
template double cross_entropy_row(const CrossEntropyRow&, const Bf16*, Bf16*, float);

void dropout_span(const float* in, float* out, std::int64_t first, std::int64_t count,
                  std::uint64_t key, double rate) {
  on_processor_dropout(in, out, first, count, key, rate);
}

}  // namespace addp
