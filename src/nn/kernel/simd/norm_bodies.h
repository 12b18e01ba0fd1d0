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

template <class Element>
ADDP_INLINE void gelu_body(const Element* x, Element* out, std::int64_t first, std::int64_t count,
                           const Dropping& dropping) {
  const Keeper keeper(dropping);
  for_vectors(
      count, [&](std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
        const Floats v = read(x + i, n);
        const Floats y = v * normal_at(v).cumulative;
        write(out + i, keeper.keep(y, first + i), n);
      });
}

template <class Element>
ADDP_INLINE void gelu_backward_body(const Element* x, const Element* outer, Element* out,
                                    std::int64_t first, std::int64_t count,
                                    const Dropping& dropping) {
  constexpr float kDensity = 0.39894228040143268F;  // 1 / sqrt(2 pi)
  const Keeper keeper(dropping);
  for_vectors(
      count, [&](std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
        const Floats v = read(x + i, n), g = read(outer + i, n);
        const Normal normal = normal_at(v);
        const Floats d =
            (normal.cumulative + v * normal.power * kDensity) * keeper.keep(g, first + i);
        write(out + i, d, n);
      });
}
