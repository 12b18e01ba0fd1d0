// Vectors of 8 floats (AVX2) or 16 (AVX-512), for the kernels of this folder. The compiler splits
// the shorter ones where registers are shorter still. A kernel is written once, in a file of bodies
// that both_widths.h includes in `namespace eight` and in `namespace sixteen`, and compiled for a
// processor by calling its inlined body from a function with ADDP_AVX2 or ADDP_AVX512. Include in
// .cpp files only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "nn/kernel/simd/bf16.h"
#include "nn/kernel/simd/dropping.h"

#define ADDP_INLINE inline __attribute__((always_inline))
#if defined(__x86_64__)
#define ADDP_AVX2 __attribute__((target("avx2,fma")))
#define ADDP_AVX512 __attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")))
#else
#define ADDP_AVX2
#define ADDP_AVX512
#endif
// The vectors never cross a function boundary that is not inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace addp::simd {

enum class Processor { kPlain, kAvx2, kAvx512 };

// ADDP_SIMD=plain, avx2 or avx512 (without its bfloat16): no more than that, so that a test can run
// what other processors do.
inline std::string_view limit() {
  const char* named = std::getenv("ADDP_SIMD");
  return named == nullptr ? std::string_view() : named;
}
inline bool unlimited() { return limit().empty(); }

inline Processor found_processor() {
#if defined(__x86_64__)
  const bool wide = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
  const bool narrow = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (wide && limit() != "avx2" && limit() != "plain") return Processor::kAvx512;
  if (narrow && limit() != "plain") return Processor::kAvx2;
#endif
  return Processor::kPlain;
}

inline Processor processor() {
  static const Processor kHere = found_processor();
  return kHere;
}

// MurmurHash3's finaliser over index and key: every input bit reaches every output bit.
template <class Word>
ADDP_INLINE Word mixed(const Word& index, std::uint32_t low, std::uint32_t high) {
  Word x = (index ^ low) * 0x9E3779B1U + high;
  x = (x ^ (x >> 16)) * 0x85EBCA6BU;
  x = (x ^ (x >> 13)) * 0xC2B2AE35U;
  return x ^ (x >> 16);
}

inline constexpr std::uint32_t kOrder[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

#define ADDP_LANES 8
namespace eight {
#include "nn/kernel/simd/vectors.h"
// which these are made of
#include "nn/kernel/simd/tile_products.h"
}  // namespace eight
#undef ADDP_LANES
#define ADDP_LANES 16
namespace sixteen {
#include "nn/kernel/simd/vectors.h"
// which these are made of
#include "nn/kernel/simd/tile_products.h"
}  // namespace sixteen
#undef ADDP_LANES

}  // namespace addp::simd

// Defines on_processor_<name>(...), which calls eight::<name>_body or sixteen::<name>_body,
// compiled for the processor at hand.
#define ADDP_KERNEL(name)                                         \
  template <class... Arguments>                                   \
  ADDP_AVX2 auto name##_avx2(const Arguments&... arguments) {     \
    return eight::name##_body(arguments...);                      \
  }                                                               \
  template <class... Arguments>                                   \
  ADDP_AVX512 auto name##_avx512(const Arguments&... arguments) { \
    return sixteen::name##_body(arguments...);                    \
  }                                                               \
  template <class... Arguments>                                   \
  auto on_processor_##name(const Arguments&... arguments) {       \
    switch (simd::processor()) {                                  \
      case simd::Processor::kAvx512:                              \
        return name##_avx512(arguments...);                       \
      case simd::Processor::kAvx2:                                \
        return name##_avx2(arguments...);                         \
      default:                                                    \
        return eight::name##_body(arguments...);                  \
    }                                                             \
  }
