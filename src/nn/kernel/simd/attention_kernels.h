// One head of self-attention, and its gradients: softmax(q k^T * scale) v. `Element` is float or
// Bf16. The weights of a few rows of queries exist at a time, in the cache. Sums are made in
// float32; factors are bfloat16 where elements are and the processor multiplies such pairs
// (AVX512-BF16), else float32.
#pragma once

#include <cstdint>

#include "nn/kernel/simd/bf16.h"
#include "nn/kernel/simd/dropping.h"
#include "nn/kernel/simd/scratch.h"

namespace addp {

struct AttentionHead {
  std::int64_t length = 0;   // positions
  std::int64_t width = 0;    // of a query, a key and a value
  std::int64_t row = 0;      // elements from a position's query (key, value) to the next one's
  std::int64_t out_row = 0;  // the same of results
  float scale = 1;
  Dropping dropping{};             // of the weights
  std::int64_t first_element = 0;  // of this head's weights, by rows of queries
};

template <class Element>
struct HeadInputs {
  const Element *q, *k, *v;
};

// Weights of a row are exp((score - largest) * scale) * inverse.
struct RowScale {
  float largest, inverse;
};

// Fills `scales` [length], which the gradients need.
template <class Element>
void attention_head(const AttentionHead& head, const HeadInputs<Element>& in, Element* out,
                    RowScale* scales, Scratch& scratch);

template <class Element>
struct HeadGradients {
  Element *q, *k, *v;
};

// From `out` and `scales` as attention_head wrote them, and the gradient `outer` of `out`.
template <class Element>
void attention_head_backward(const AttentionHead& head, const HeadInputs<Element>& in,
                             const Element* out, const Element* outer, const RowScale* scales,
                             const HeadGradients<Element>& gradients, Scratch& scratch);

}  // namespace addp
