// Loops over rows that libtorch has no fused form of. `Element` is float or Bf16. Vectorised for
// AVX2 where the processor has it, chosen while running; results do not depend on the number of
// threads.
#pragma once

#include <cstdint>

#include "nn/kernel/simd/bf16.h"
#include "nn/kernel/simd/dropping.h"

namespace addp {

// One row of smoothed cross-entropy. Target t = (1 - s) ((1 - share) q + share [label]) + s / V.
struct CrossEntropyRow {
  std::int64_t classes = 0;
  const float* q = nullptr;  // [codes], or null
  std::int64_t codes = 0;
  std::int64_t label = -1;  // below 0: none
  double share = 0;         // of the label
  double smoothing = 0;
};
// -sum_v t_v log softmax(logits)_v. Where `gradient` [classes] is not null it becomes scale *
// (softmax(logits) - t).
template <class Element>
double cross_entropy_row(const CrossEntropyRow& row, const Element* logits, Element* gradient,
                         float scale);

// Attention weights of rows of `width` scores: weights = softmax(scores), and what dropout keeps of
// them. The first row has the number `first_row`.
struct SoftmaxRows {
  std::int64_t first_row = 0, rows = 0, width = 0;
};
template <class Element>
void softmax_rows(const SoftmaxRows& shape, const Element* scores, const Dropping& dropping,
                  Element* weights, Element* kept);
// The gradient of the scores, from that of `kept`.
template <class Element>
void softmax_rows_backward(const SoftmaxRows& shape, const Element* weights, const Element* outer,
                           const Dropping& dropping, Element* out);

// out[i] = in[i] * scale where element first + i is kept, else 0. An element's fate is a hash of
// `key` and its index, so that the backward pass decides the same without a stored mask.
void dropout_span(const float* in, float* out, std::int64_t first, std::int64_t count,
                  std::uint64_t key, double rate);

}  // namespace addp
