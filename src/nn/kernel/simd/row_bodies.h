// The loops of row_kernels.h. Included by row_kernels.cpp once for each width of vectors.

// The largest of a row, and the sum of exp(x - largest).
struct Powers {
  float top;
  double total;
};

template <class Element>
ADDP_INLINE Powers powers_of(const Element* row, std::int64_t width) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  Floats highest = splat(kLowest), total{};
  for_vectors(
      width, [&](std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
        const Floats x = filled(read(row + i, n), n, kLowest);
        highest = Larger()(x, highest);
      });
  const float top = joined(highest, Larger());
  for_vectors(
      width, [&](std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
        total += filled(exp_of_negative(read(row + i, n) - top), n, 0);
      });
  return {top, sum(total)};
}

template <class Element>
ADDP_INLINE double cross_entropy_body(const CrossEntropyRow& row, const Element* logits,
                                      Element* gradient, float scale) {
  const Powers powers = powers_of(logits, row.classes);
  Floats total{}, dot{};
  for_vectors(
      row.classes, [&](std::int64_t i, std::int64_t n)
                       __attribute__((always_inline)) { total += read(logits + i, n); });
  if (row.q != nullptr) {
    for_vectors(
        row.codes, [&](std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
          dot += read(row.q + i, n) * read(logits + i, n);
        });
  }
  double hit = (1 - row.share) * sum(dot);
  if (row.label >= 0) hit += row.share * value_of(logits[row.label]);

  if (gradient != nullptr) {
    const float softmax_scale = static_cast<float>(scale / powers.total);
    const float floor = static_cast<float>(scale * row.smoothing / double(row.classes));
    const float q_scale = static_cast<float>(scale * (1 - row.smoothing) * (1 - row.share));
    for_vectors(
        row.classes, [&](std::int64_t i, std::int64_t n) __attribute__((always_inline)) {
          Floats g = exp_of_negative(read(logits + i, n) - powers.top) * softmax_scale - floor;
          if (row.q != nullptr && i < row.codes) {
            g -= read(row.q + i, std::min(n, row.codes - i)) * q_scale;
          }
          if (row.label >= i && row.label < i + n) {
            g[row.label - i] -= static_cast<float>(scale * (1 - row.smoothing) * row.share);
          }
          write(gradient + i, g, n);
        });
  }
  return std::log(powers.total) + powers.top - (1 - row.smoothing) * hit -
         row.smoothing * sum(total) / double(row.classes);
}

ADDP_INLINE void dropout_body(const float* in, float* out, std::int64_t first, std::int64_t count,
                              std::uint64_t key, double rate) {
  const Keeper keeper({.key = key, .rate = rate});
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) write(out + i, keeper.keep(read(in + i), first + i));
  for (; i < count; ++i) out[i] = keeper.keep(in[i], first + i);
}
