#include "nn/kernel/simd/attention_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "nn/kernel/simd/simd.h"

namespace addp {
namespace {

// clang checks an asm's registers against the function that it is written in, not inlined into.
#if defined(__x86_64__) && !defined(__clang__)
#define ADDP_PAIRS 1
#define ADDP_PAIR_ASM(...) asm(__VA_ARGS__)
#else
#define ADDP_PAIRS 0
#define ADDP_PAIR_ASM(...)
#endif
#define ADDP_BODIES "nn/kernel/simd/attention_bodies.h"
#include "nn/kernel/simd/both_widths.h"
#undef ADDP_PAIR_ASM

ADDP_KERNEL(attention_of_floats)
ADDP_KERNEL(attention_of_floats_backward)

template <class... Arguments>
ADDP_AVX512 std::int64_t attention_of_pairs(const Arguments&... arguments) {
  return sixteen::attention_body<sixteen::Pair>(arguments...);
}
template <class... Arguments>
ADDP_AVX512 std::int64_t attention_of_pairs_backward(const Arguments&... arguments) {
  return sixteen::attention_backward_body<sixteen::Pair>(arguments...);
}

bool multiplies_pairs() {
#if ADDP_PAIRS
  static const bool kHere = simd::processor() == simd::Processor::kAvx512 && simd::unlimited() &&
                            static_cast<bool>(__builtin_cpu_supports("avx512bf16"));
  return kHere;
#else
  return false;
#endif
}

// run(memory) says how many words it needs where it is given none.
template <class Run>
void run_in(Scratch& scratch, const Run& run) {
  run(scratch.words(run(nullptr)));
}

}  // namespace

template <class Element>
void attention_head(const AttentionHead& head, const HeadInputs<Element>& in, Element* out,
                    RowScale* scales, Scratch& scratch) {
  run_in(scratch, [&](std::uint32_t* memory) {
    if constexpr (std::is_same_v<Element, Bf16>) {
      if (multiplies_pairs()) return attention_of_pairs(head, in, out, scales, memory);
    }
    return on_processor_attention_of_floats(head, in, out, scales, memory);
  });
}

template <class Element>
void attention_head_backward(const AttentionHead& head, const HeadInputs<Element>& in,
                             const Element* out, const Element* outer, const RowScale* scales,
                             const HeadGradients<Element>& gradients, Scratch& scratch) {
  run_in(scratch, [&](std::uint32_t* memory) {
    if constexpr (std::is_same_v<Element, Bf16>) {
      if (multiplies_pairs()) {
        return attention_of_pairs_backward(head, in, out, outer, scales, gradients, memory);
      }
    }
    return on_processor_attention_of_floats_backward(head, in, out, outer, scales, gradients,
                                                     memory);
  });
}

#define ADDP_ATTENTION_KERNELS(Element)                                                    \
  template void attention_head(const AttentionHead&, const HeadInputs<Element>&, Element*, \
                               RowScale*, Scratch&);                                       \
  template void attention_head_backward(const AttentionHead&, const HeadInputs<Element>&,  \
                                        const Element*, const Element*, const RowScale*,   \
                                        const HeadGradients<Element>&, Scratch&);
ADDP_ATTENTION_KERNELS(float)
ADDP_ATTENTION_KERNELS(Bf16)
#undef ADDP_ATTENTION_KERNELS

}  // namespace addp
