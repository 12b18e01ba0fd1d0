// Eight floats at a time, for the kernels of this folder. The compiler splits them where registers
// are shorter; a kernel is compiled for AVX2 by calling its inlined body from a function with
// ADDP_AVX2. Include in .cpp files only.
#pragma once

#include <cstdint>
#include <cstring>

#define ADDP_INLINE inline __attribute__((always_inline))
#if defined(__x86_64__)
#define ADDP_AVX2 __attribute__((target("avx2,fma")))
#else
#define ADDP_AVX2
#endif
// The vectors never cross a function boundary that is not inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace addp::simd {

typedef float Floats __attribute__((vector_size(32)));
typedef std::int32_t Ints __attribute__((vector_size(32)));
typedef std::uint32_t Words __attribute__((vector_size(32)));
inline constexpr std::int64_t kLanes = 8;

inline bool has_avx2() {
#if defined(__x86_64__)
  static const bool kHas = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return kHas;
#else
  return false;
#endif
}

template <class Vector, class Element>
ADDP_INLINE Vector load(const Element* from) {
  Vector v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}

template <class Vector, class Element>
ADDP_INLINE void store(Element* to, const Vector& v) {
  std::memcpy(to, &v, sizeof(v));
}

ADDP_INLINE Floats splat(float value) { return Floats{} + value; }

ADDP_INLINE double sum(const Floats& v) {
  double total = 0;
  for (int i = 0; i < kLanes; ++i) total += v[i];
  return total;
}

// exp for x <= 0: 2^n times a polynomial of the remainder (coefficients of Cephes' expf),
// within 2 ulp.
ADDP_INLINE Floats exp_of_negative(const Floats& from) {
  const Floats x = from < splat(-87.0F) ? splat(-87.0F) : from;
  const Floats scaled = x * 1.44269504088896341F - 0.5F;
  const Ints n = __builtin_convertvector(scaled, Ints);  // truncation rounds to nearest, as x <= 0
  const Floats whole = __builtin_convertvector(n, Floats);
  const Floats r = x - whole * 0.693359375F - whole * -2.12194440e-4F;
  Floats p = splat(1.9875691500e-4F);
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const Ints power = (n + 127) << 23;
  return p * load<Floats>(&power);
}

ADDP_INLINE Floats sigmoid(const Floats& x) {
  const Floats e = exp_of_negative(x < 0.0F ? x : -x);
  return (x < 0.0F ? e : splat(1.0F)) / (e + 1.0F);
}

}  // namespace addp::simd
