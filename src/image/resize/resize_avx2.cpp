#include "image/resize/resize_kernels.h"
#include "image/vector_loops.h"

#if ADDP_HAS_AVX2_BUILD

#include <immintrin.h>

#include <cstring>

namespace addp {
namespace {

// The eight bytes at `bytes`, in both 128-bit lanes.
ADDP_AVX2 inline __m256i load_twice(const std::uint8_t* bytes) {
  long long value;
  std::memcpy(&value, bytes, sizeof value);
  return _mm256_set1_epi64x(value);
}

ADDP_AVX2 inline __m128i add_lanes(__m256i sum) {
  return _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
}

// Four pixels of RGB and an unused byte each, to `at` in four rows. The unused byte is overwritten
// by the next pixel; behind the last one it must not be written.
ADDP_AVX2 inline void store_pixels(__m128i pixels, std::uint8_t* const* out, std::size_t at,
                                   bool last) {
  const auto put = [&](int row, int pixel) {
    if (last) {
      std::memcpy(out[row] + at, &pixel, 3);
    } else {
      std::memcpy(out[row] + at, &pixel, 4);
    }
  };
  put(0, _mm_cvtsi128_si32(pixels));
  put(1, _mm_extract_epi32(pixels, 1));
  put(2, _mm_extract_epi32(pixels, 2));
  put(3, _mm_extract_epi32(pixels, 3));
}

// Two taps at a time: one 128-bit lane holds R, G, B of the even tap as 32-bit numbers, the other
// those of the odd tap.
ADDP_AVX2 void rows_avx2(const std::uint8_t* const* in, std::uint8_t* const* out,
                         const Taps& taps) {
  const __m256i spread =
      _mm256_setr_epi8(0, -1, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1, -1, -1, -1, -1, 3, -1, -1, -1,
                       4, -1, -1, -1, 5, -1, -1, -1, -1, -1, -1, -1);
  const __m256i lanes = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
  const __m256i half = _mm256_setr_epi32(1 << (kWeightBits - 1), 1 << (kWeightBits - 1),
                                         1 << (kWeightBits - 1), 0, 0, 0, 0, 0);
  const std::int32_t* weight = taps.weight.data();
  const std::size_t outputs = taps.first.size();
  const int count = taps.count;
  for (std::size_t x = 0; x < outputs; ++x, weight += count) {
    const std::size_t start = std::size_t(taps.first[x]) * 3;
    const std::uint8_t *p0 = in[0] + start, *p1 = in[1] + start, *p2 = in[2] + start,
                       *p3 = in[3] + start;
    __m256i a = half, b = half, c = half, d = half;
    for (int t = 0; t < count; t += 2, p0 += 6, p1 += 6, p2 += 6, p3 += 6) {
      const __m256i factor = _mm256_permutevar8x32_epi32(
          load_twice(reinterpret_cast<const std::uint8_t*>(weight + t)), lanes);
      const auto product = [&](const std::uint8_t* p) ADDP_AVX2 {
        return _mm256_mullo_epi32(_mm256_shuffle_epi8(load_twice(p), spread), factor);
      };
      a = _mm256_add_epi32(a, product(p0));
      b = _mm256_add_epi32(b, product(p1));
      c = _mm256_add_epi32(c, product(p2));
      d = _mm256_add_epi32(d, product(p3));
    }
    const __m128i ab = _mm_packs_epi32(_mm_srai_epi32(add_lanes(a), kWeightBits),
                                       _mm_srai_epi32(add_lanes(b), kWeightBits));
    const __m128i cd = _mm_packs_epi32(_mm_srai_epi32(add_lanes(c), kWeightBits),
                                       _mm_srai_epi32(add_lanes(d), kWeightBits));
    store_pixels(_mm_packus_epi16(ab, cd), out, x * 3, x + 1 == outputs);
  }
}

ADDP_AVX2 inline __m256i load_widened(const std::uint8_t* bytes) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
}

ADDP_AVX2 void column_avx2(const std::uint8_t* in, std::size_t stride, const std::int32_t* weight,
                           int count, std::uint8_t* out, std::size_t bytes) {
  const __m256i half = _mm256_set1_epi32(1 << (kWeightBits - 1));
  // The packs work within 128-bit lanes, which leaves groups of four in the order 0 4 1 5 2 6 3 7.
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  std::size_t i = 0;
  for (; i + 32 <= bytes; i += 32) {
    __m256i a = half, b = half, c = half, d = half;
    const std::uint8_t* line = in + i;
    for (int t = 0; t < count; ++t, line += stride) {
      const __m256i factor = _mm256_set1_epi32(weight[t]);
      a = _mm256_add_epi32(a, _mm256_mullo_epi32(load_widened(line), factor));
      b = _mm256_add_epi32(b, _mm256_mullo_epi32(load_widened(line + 8), factor));
      c = _mm256_add_epi32(c, _mm256_mullo_epi32(load_widened(line + 16), factor));
      d = _mm256_add_epi32(d, _mm256_mullo_epi32(load_widened(line + 24), factor));
    }
    const __m256i low =
        _mm256_packs_epi32(_mm256_srai_epi32(a, kWeightBits), _mm256_srai_epi32(b, kWeightBits));
    const __m256i high =
        _mm256_packs_epi32(_mm256_srai_epi32(c, kWeightBits), _mm256_srai_epi32(d, kWeightBits));
    const __m256i packed = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), packed);
  }
  portable_kernels().column(in + i, stride, weight, count, out + i, bytes - i);
}

}  // namespace

const ResizeKernels* avx2_kernels() {
  static const ResizeKernels kernels{rows_avx2, column_avx2};
  return has_avx2() ? &kernels : nullptr;
}

}  // namespace addp

#else

namespace addp {
const ResizeKernels* avx2_kernels() { return nullptr; }
}  // namespace addp

#endif
