// Loops over rows of a transformer's activations: layer norm with the residual sum before it, and
// GELU. The residual stream and the weights are float, what enters and leaves products is
// `Element`, float or Bf16. Vectorised for AVX2 where the processor has it.
#pragma once

#include <cstdint>

#include "nn/kernel/simd/bf16.h"
#include "nn/kernel/simd/dropping.h"

namespace addp {

// Layer norm of rows of `width`, whose first has the number `first_row`.
struct NormRows {
  std::int64_t first_row = 0, rows = 0, width = 0;
  const float *weight = nullptr, *bias = nullptr;  // [width]
  double eps = 0;
};

// What the passes share, [rows] each.
struct RowStatistics {
  float *mean = nullptr, *inverse = nullptr;
};

// out = norm(x). With a `branch`: sum = x + kept(branch) and out = norm(sum).
template <class Element>
void norm_rows(const NormRows& norm, const float* x, const Element* branch,
               const Dropping& dropping, float* sum, Element* out, const RowStatistics& found);

// The backward pass: x is what was normalised, `outer` the gradient of out, `through` (may be null)
// what else x's gradient gets. d_x gets the sum; d_branch (may be null) what was kept of it;
// d_weight and d_bias [width] are added to.
template <class Element>
void norm_rows_backward(const NormRows& norm, const float* x, const Element* outer,
                        const float* through, const RowStatistics& found, const Dropping& dropping,
                        float* d_x, Element* d_branch, float* d_weight, float* d_bias);

// sum = x + kept(branch), for elements that begin at `first`.
template <class Element>
void add_span(const float* x, const Element* branch, float* sum, std::int64_t first,
              std::int64_t count, const Dropping& dropping);
// out = kept(in)
template <class From, class To>
void keep_span(const From* in, To* out, std::int64_t first, std::int64_t count,
               const Dropping& dropping);

// out = kept(gelu(x)), and its gradient. GELU is x times the normal distribution's value at x.
template <class Element>
void gelu_span(const Element* x, Element* out, std::int64_t first, std::int64_t count,
               const Dropping& dropping);
template <class Element>
void gelu_span_backward(const Element* x, const Element* outer, Element* out, std::int64_t first,
                        std::int64_t count, const Dropping& dropping);

}  // namespace addp
