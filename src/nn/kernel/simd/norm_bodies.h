// The loops of norm_kernels.h. Included by norm_kernels.cpp once for each width of vectors.

template <class Element>
ADDP_INLINE void norm_body(const NormRows& norm, const float* x, const Element* branch,
                           const Dropping& dropping, float* sums, Element* out,
                           const RowStatistics& found) {
  const Keeper keeper(dropping);
  const std::int64_t width = norm.width;
  for (std::int64_t row = 0; row < norm.rows; ++row) {
    const std::int64_t at = row * width, number = (norm.first_row + row) * width;
    const float* values = branch == nullptr ? x + at : sums + at;
    Floats total{}, square{};
    for_vectors(
        width, [&](std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
          Floats v = read(x + at + i, n);
          if (branch != nullptr) {
            const Floats b = read(branch + at + i, n);
            v += dropping.rate > 0 ? keeper.keep(b, number + i) : b;
            write(sums + at + i, v, n);
          }
          total += v;
        });
    const float mean = static_cast<float>(sum(total) / double(width));
    for_vectors(
        width, [&](std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
          Floats d = read(values + i, n) - mean;
          if (n < kLanes) {
            for (std::int64_t k = n; k < kLanes; ++k) d[k] = 0;
          }
          square += d * d;
        });
    const float inverse = static_cast<float>(1 / std::sqrt(sum(square) / double(width) + norm.eps));
    for_vectors(
        width, [&](std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
          const Floats hat = (read(values + i, n) - mean) * inverse;
          write(out + at + i, hat * read(norm.weight + i, n) + read(norm.bias + i, n), n);
        });
    found.mean[row] = mean;
    found.inverse[row] = inverse;
  }
}

template <class Element>
ADDP_INLINE void norm_backward_body(const NormRows& norm, const float* x, const Element* outer,
                                    const float* through, const RowStatistics& found,
                                    const Dropping& dropping, float* d_x, Element* d_branch,
                                    float* d_weight, float* d_bias) {
  const Keeper keeper(dropping);
  const std::int64_t width = norm.width;
  for (std::int64_t row = 0; row < norm.rows; ++row) {
    const std::int64_t at = row * width, number = (norm.first_row + row) * width;
    const float mean = found.mean[row], inverse = found.inverse[row];
    Floats g_total{}, g_hat_total{};
    for_vectors(
        width, [&](std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
          const Floats hat = (read(x + at + i, n) - mean) * inverse;
          const Floats dy = read(outer + at + i, n);
          const Floats g = dy * read(norm.weight + i, n);
          g_total += g;
          g_hat_total += g * hat;
          write(d_weight + i, read(d_weight + i, n) + dy * hat, n);
          write(d_bias + i, read(d_bias + i, n) + dy, n);
        });
    const float g_mean = static_cast<float>(sum(g_total) / double(width));
    const float g_hat_mean = static_cast<float>(sum(g_hat_total) / double(width));
    for_vectors(
        width, [&](std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
          const Floats hat = (read(x + at + i, n) - mean) * inverse;
          const Floats g = read(outer + at + i, n) * read(norm.weight + i, n);
          Floats d = (g - g_mean - hat * g_hat_mean) * inverse;
          if (through != nullptr) d += read(through + at + i, n);
          write(d_x + at + i, d, n);
          if (d_branch == nullptr) return;
          write(d_branch + at + i, dropping.rate > 0 ? keeper.keep(d, number + i) : d, n);
        });
  }
}

template <class From, class To>
ADDP_INLINE void keep_body(const From* in, To* out, std::int64_t first, std::int64_t count,
                           const Dropping& dropping) {
  const Keeper keeper(dropping);
  for_vectors(
      count, [&](std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
        write(out + i, keeper.keep(read(in + i, n), first + i), n);
      });
}

template <class Element>
ADDP_INLINE void add_body(const float* x, const Element* branch, float* sums, std::int64_t first,
                          std::int64_t count, const Dropping& dropping) {
  const Keeper keeper(dropping);
  for_vectors(
      count, [&](std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
        const Floats b = read(branch + i, n);
        write(sums + i, read(x + i, n) + (dropping.rate > 0 ? keeper.keep(b, first + i) : b), n);
      });
}

// 0.5 + x P(x^2) for |x| <= kGeluEnd, 0 or 1 beyond. P is a polynomial of what goes from -1 to 1
// with x^2, fitted for the least absolute error.
inline constexpr float kGeluEnd = 4.5F;
template <std::size_t Count>
ADDP_INLINE Floats half_plus_odd(const Floats& from, const float (&coefficients)[Count]) {
  const Floats x = from > splat(kGeluEnd) ? splat(kGeluEnd) : from;
  const Floats s = x * x * (2 / (kGeluEnd * kGeluEnd)) - 1.0F;
  Floats p = splat(coefficients[Count - 1]);
#pragma GCC unroll 16
  for (std::size_t i = 2; i <= Count; ++i) p = p * s + coefficients[Count - i];
  return x < splat(-kGeluEnd) ? Floats{} : p * x + 0.5F;
}

// The standard normal distribution up to x, and the slope of GELU, x times that. Where results are
// bfloat16, errors of 7e-6 and 8e-5 are small enough, and it takes no exponential and no division.
template <class Element>
ADDP_INLINE Floats share_below(const Floats& x) {
  if constexpr (std::is_same_v<Element, float>) {
    return normal_at(x).cumulative;
  } else {
    constexpr float kFitted[] = {0.156906044F,  -0.0771858742F, 0.0546375126F,  -0.0402371102F,
                                 0.0288575177F, -0.0184834297F, 0.00965347357F, -0.00607100029F,
                                 0.0049625601F, -0.00193013814F};
    return half_plus_odd(x, kFitted);
  }
}
template <class Element>
ADDP_INLINE Floats gelu_slope(const Floats& x) {
  if constexpr (std::is_same_v<Element, float>) {
    constexpr float kDensity = 0.39894228040143268F;  // 1 / sqrt(2 pi)
    const Normal normal = normal_at(x);
    return normal.cumulative + x * normal.power * kDensity;
  } else {
    constexpr float kFitted[] = {0.159431547F,  -0.0900131804F, 0.0869872279F, -0.0939223226F,
                                 0.0979010903F, -0.093836053F,  0.0697569001F, -0.0362133406F,
                                 0.0284662891F, -0.0293618751F, 0.0119326393F};
    return half_plus_odd(x, kFitted);
  }
}

template <class Element>
ADDP_INLINE void gelu_body(const Element* x, Element* out, std::int64_t first, std::int64_t count,
                           const Dropping& dropping) {
  const Keeper keeper(dropping);
  for_vectors(
      count, [&](std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
        const Floats v = read(x + i, n);
        const Floats y = v * share_below<Element>(v);
        write(out + i, dropping.rate > 0 ? keeper.keep(y, first + i) : y, n);
      });
}

template <class Element>
ADDP_INLINE void gelu_backward_body(const Element* x, const Element* outer, Element* out,
                                    std::int64_t first, std::int64_t count,
                                    const Dropping& dropping) {
  const Keeper keeper(dropping);
  for_vectors(
      count, [&](std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
        const Floats v = read(x + i, n), g = read(outer + i, n);
        write(out + i, gelu_slope<Element>(v) * (dropping.rate > 0 ? keeper.keep(g, first + i) : g),
              n);
      });
}
