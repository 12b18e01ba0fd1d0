// Loops over rows that libtorch has no fused form of. `Element` is float or Bf16. Vectorised for
// AVX2 or AVX-512 where the processor has them, chosen while running; results do not depend on the
// number of threads.
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

// out[i] = in[i] * scale where element first + i is kept, else 0. An element's fate is a hash of
// `key` and its index, so that the backward pass decides the same without a stored mask.
void dropout_span(const float* in, float* out, std::int64_t first, std::int64_t count,
                  std::uint64_t key, double rate);

}  // namespace addp
