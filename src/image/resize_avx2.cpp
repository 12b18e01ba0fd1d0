#include "image/resize_kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include <cstring>

#define ADDP_AVX2 __attribute__((target("avx2")))

namespace addp {
namespace {

// Two taps at a time: one 128-bit lane holds R, G, B of the even tap as 32-bit numbers, the other
// those of the odd tap. The weights' row is padded to an even number with zeros.
ADDP_AVX2 void row_avx2(const std::uint8_t* in, std::uint8_t* out, const Taps& taps) {
  const __m256i spread =
      _mm256_setr_epi8(0, -1, -1, -1, 1, -1, -1, -1, 2, -1, -1, -1, -1, -1, -1, -1, 3, -1, -1, -1,
                       4, -1, -1, -1, 5, -1, -1, -1, -1, -1, -1, -1);
  const __m256i lanes = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
  const __m128i half = _mm_set1_epi32(1 << (kWeightBits - 1));
  const std::int32_t* weight = taps.weight.data();
  const int* first = taps.first.data();
  const std::size_t outputs = taps.first.size();
  for (std::size_t x = 0; x < outputs; ++x, out += 3, weight += taps.per_output) {
    const std::uint8_t* pixel = in + std::size_t(first[x]) * 3;
    __m256i sum = _mm256_setzero_si256();
    for (int t = 0; t < taps.count[x]; t += 2, pixel += 6) {
      const __m128i raw = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(pixel));
      const __m256i value = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(raw), spread);
      const __m128i pair = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(weight + t));
      const __m256i factor = _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(pair), lanes);
      sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(value, factor));
    }
    __m128i total = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    total = _mm_srai_epi32(_mm_add_epi32(total, half), kWeightBits);
    total = _mm_packus_epi16(_mm_packs_epi32(total, total), total);
    const int rgb = _mm_cvtsi128_si32(total);
    std::memcpy(out, &rgb, 4);
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
  static const ResizeKernels kernels{row_avx2, column_avx2};
  return __builtin_cpu_supports("avx2") ? &kernels : nullptr;
}

}  // namespace addp

#else

namespace addp {
const ResizeKernels* avx2_kernels() { return nullptr; }
}  // namespace addp

#endif
