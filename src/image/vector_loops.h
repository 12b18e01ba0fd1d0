// What lets the compiler turn plain loops over pixels into vector instructions.
#pragma once

// gcc vectorises loops of unknown length from -O3 on; clang does at -O2.
#if defined(__GNUC__) && !defined(__clang__)
#define ADDP_VECTOR_LOOPS __attribute__((optimize("O3")))
#else
#define ADDP_VECTOR_LOOPS
#endif

// A function in two versions, chosen while running (not by ifunc, which address sanitizers cannot
// load): ADDP_AVX2 marks the one that may use AVX2, has_avx2() says whether the processor can.
#if defined(__x86_64__) && defined(__GNUC__)
#define ADDP_HAS_AVX2_BUILD 1
#define ADDP_AVX2 __attribute__((target("avx2")))
#else
#define ADDP_HAS_AVX2_BUILD 0
#define ADDP_AVX2
#endif

namespace addp {

inline bool has_avx2() {
#if ADDP_HAS_AVX2_BUILD
  return __builtin_cpu_supports("avx2") != 0;
#else
  return false;
#endif
}

}  // namespace addp
