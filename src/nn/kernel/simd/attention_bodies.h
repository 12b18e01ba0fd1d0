// The loops of attention_kernels.h. Included by attention_kernels.cpp once for each width of
// vectors.
#include "nn/kernel/simd/head_matrices.h"

// Takes pieces off the front of a block of memory; without memory it only adds up.
class Pieces {
 public:
  ADDP_INLINE explicit Pieces(std::uint32_t* memory) : memory_(memory) {}

  ADDP_INLINE std::uint32_t* words(std::int64_t count) {
    std::uint32_t* piece = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += up_to(count, 16);  // a cache line
    return piece;
  }
  ADDP_INLINE float* floats(std::int64_t count) { return reinterpret_cast<float*>(words(count)); }
  ADDP_INLINE std::int64_t used() const { return used_; }

 private:
  std::uint32_t* memory_;
  std::int64_t used_ = 0;
};

// Rows of queries whose weights exist at a time: a multiple of kTileRows and of 2.
inline constexpr std::int64_t kForwardRows = 24, kBackwardRows = 48;

struct ForwardMemory {
  std::uint32_t *q, *k, *k_transposed, *v, *weights;
  float *scores, *out;

  ADDP_INLINE ForwardMemory(const HeadSizes& s, Pieces& pieces)
      : q(pieces.words(s.rows * s.row)),
        k(pieces.words(s.rows * s.row)),
        k_transposed(pieces.words(s.row * s.columns)),
        v(pieces.words(s.position_depth * s.out)),
        weights(pieces.words(kForwardRows * s.columns)),
        scores(pieces.floats(kForwardRows * s.columns)),
        out(pieces.floats(kForwardRows * s.out)) {}
};

// Calls body(i, tail) for the vectors of a row of weights; the last may have a tail, columns that
// stand for no position.
template <class Body>
ADDP_INLINE void for_columns(const HeadSizes& s, const Body& body) {
  std::int64_t i = 0;
  for (; i + kLanes <= s.length; i += kLanes) body(i, std::false_type());
  if (i < s.length) body(i, std::true_type());
}

// exp((score - largest) * scale) of a row; what dropout keeps of it goes to `weights`.
template <class Unit>
ADDP_INLINE RowScale weigh_row(const AttentionHead& head, const HeadSizes& s, const Keeper& keeper,
                               std::int64_t query, const float* scores, std::uint32_t* weights) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  Floats highest = splat(kLowest), total{};
  for_columns(
      s, [&](std::int64_t i, auto tail) __attribute__((always_inline)) {
        const Floats x = read(scores + i);
        highest = Larger()(tail ? filled(x, s.length - i, kLowest) : x, highest);
      });
  const float largest = joined(highest, Larger()), unit = head.scale * Unit::kUnit;
  for_columns(
      s, [&](std::int64_t i, auto tail) __attribute__((always_inline)) {
        Floats x = Unit::power((read(scores + i) - largest) * unit);
        if constexpr (tail) x = filled(x, s.length - i, 0);
        total += x;
        if (head.dropping.rate > 0) x = keeper.keep(x, head.first_element + query * s.length + i);
        Unit::write_row(weights, i, x);
      });
  return {largest, 1 / joined(total, Added())};
}

template <class Unit, class Element>
ADDP_INLINE std::int64_t attention_body(const AttentionHead& head, const HeadInputs<Element>& in,
                                        Element* out, RowScale* scales, std::uint32_t* memory) {
  const HeadSizes s = sizes_of<Unit>(head);
  Pieces pieces(memory);
  const ForwardMemory m(s, pieces);
  if (memory == nullptr) return pieces.used();
  store_by_rows<Unit>(s, in.q, head.row, m.q);
  store_by_rows<Unit>(s, in.k, head.row, m.k);
  transpose(s, m.k, m.k_transposed);
  store_by_pairs<Unit>(s, in.v, head.row, m.v);
  const Keeper keeper(head.dropping);
  const std::int64_t weights_row = s.columns / Unit::kValues;
  for (std::int64_t first = 0; first < s.length; first += kForwardRows) {
    const std::int64_t rows = std::min(kForwardRows, s.length - first);
    product<Unit>(rows, s.columns, s.depth, {m.q + first * s.row, s.row, 1},
                  {m.k_transposed, s.columns}, m.scores, s.columns);
    for (std::int64_t r = 0; r < rows; ++r) {
      scales[first + r] = weigh_row<Unit>(head, s, keeper, first + r, m.scores + r * s.columns,
                                          m.weights + r * weights_row);
    }
    product<Unit>(rows, s.out, s.position_depth, {m.weights, weights_row, 1}, {m.v, s.out}, m.out,
                  s.out);
    for (std::int64_t r = 0; r < rows; ++r) {
      for_vectors(
          s.width, [&](std::int64_t j, std::int64_t n) __attribute__((always_inline)) {
            write(out + (first + r) * head.out_row + j,
                  read(m.out + r * s.out + j) * scales[first + r].inverse, n);
          });
    }
  }
  return pieces.used();
}

struct BackwardMemory {
  std::uint32_t *q, *q_pairs, *k, *k_transposed, *k_pairs, *v, *v_transposed, *outer, *outer_pairs;
  std::uint32_t *weights_pairs, *slopes, *slopes_pairs;
  float *scores, *weight_slopes, *means, *q_gradient, *k_gradient, *v_gradient;

  ADDP_INLINE BackwardMemory(const HeadSizes& s, Pieces& pieces)
      : q(pieces.words(s.rows * s.row)),
        q_pairs(pieces.words(s.position_depth * s.out)),
        k(pieces.words(s.rows * s.row)),
        k_transposed(pieces.words(s.row * s.columns)),
        k_pairs(pieces.words(s.position_depth * s.out)),
        v(pieces.words(s.rows * s.row)),
        v_transposed(pieces.words(s.row * s.columns)),
        outer(pieces.words(s.rows * s.row)),
        outer_pairs(pieces.words(s.position_depth * s.out)),
        weights_pairs(pieces.words(kBackwardRows * s.columns + kTileRows)),
        slopes(pieces.words(kBackwardRows * s.columns)),
        slopes_pairs(pieces.words(kBackwardRows * s.columns + kTileRows)),
        scores(pieces.floats(kBackwardRows * s.columns)),
        weight_slopes(pieces.floats(kBackwardRows * s.columns)),
        means(pieces.floats(s.length)),
        q_gradient(pieces.floats(kBackwardRows * s.out)),
        k_gradient(pieces.floats(s.rows * s.out)),
        v_gradient(pieces.floats(s.rows * s.out)) {}
};

// Weights and the gradient of the scores at `i` of row `r` of the block that begins with `first`.
struct Slope {
  Floats kept, slope;
};
template <class Unit, class Tail>
ADDP_INLINE Slope slope_at(const AttentionHead& head, const HeadSizes& s, const Keeper& keeper,
                           const BackwardMemory& m, const RowScale* scales, std::int64_t first,
                           std::int64_t r, std::int64_t i, Tail tail) {
  const std::int64_t query = first + r;
  if (query >= s.length) return {Floats{}, Floats{}};
  const RowScale row = scales[query];
  Floats weight =
      Unit::power((read(m.scores + r * s.columns + i) - row.largest) * (head.scale * Unit::kUnit)) *
      row.inverse;
  if constexpr (tail) weight = filled(weight, s.length - i, 0);
  Floats kept = weight, outer = read(m.weight_slopes + r * s.columns + i);
  if (head.dropping.rate > 0) {
    const std::int64_t element = head.first_element + query * s.length + i;
    kept = keeper.keep(weight, element);
    outer = keeper.keep(outer, element);
  }
  return {kept, weight * (outer - m.means[query]) * head.scale};
}

template <class Unit>
ADDP_INLINE void store_slopes(const AttentionHead& head, const HeadSizes& s, const Keeper& keeper,
                              const BackwardMemory& m, const RowScale* scales, std::int64_t first,
                              std::int64_t rows) {
  const std::int64_t slopes_row = s.columns / Unit::kValues;
  for (std::int64_t r = 0; r < rows; r += Unit::kValues) {
    const std::int64_t pair = r / Unit::kValues * s.columns;
    for_columns(
        s, [&](std::int64_t i, auto tail) __attribute__((always_inline)) {
          const Slope a = slope_at<Unit>(head, s, keeper, m, scales, first, r, i, tail);
          Unit::write_row(m.slopes + r * slopes_row, i, a.slope);
          Slope b{Floats{}, Floats{}};
          if constexpr (Unit::kValues == 2) {
            b = slope_at<Unit>(head, s, keeper, m, scales, first, r + 1, i, tail);
            Unit::write_row(m.slopes + (r + 1) * slopes_row, i, b.slope);
          }
          Unit::write_pair(m.weights_pairs + pair, i, a.kept, b.kept);
          Unit::write_pair(m.slopes_pairs + pair, i, a.slope, b.slope);
        });
  }
}

// means[r] = sum of out * outer in row r: what the softmax takes off every slope of the row.
template <class Element>
ADDP_INLINE void store_means(const AttentionHead& head, const Element* out, const Element* outer,
                             float* means) {
  for (std::int64_t r = 0; r < head.length; ++r) {
    Floats total{};
    for_vectors(
        head.width, [&](std::int64_t j, std::int64_t n) __attribute__((always_inline)) {
          total += read(out + r * head.out_row + j, n) * read(outer + r * head.out_row + j, n);
        });
    means[r] = joined(total, Added());
  }
}

template <class Element>
ADDP_INLINE void write_rows(const HeadSizes& s, const float* from, std::int64_t rows, Element* to,
                            std::int64_t to_row) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for_vectors(
        s.width, [&](std::int64_t j, std::int64_t n) __attribute__((always_inline)) {
          write(to + r * to_row + j, read(from + r * s.out + j), n);
        });
  }
}

template <class Unit, class Element>
ADDP_INLINE std::int64_t attention_backward_body(const AttentionHead& head,
                                                 const HeadInputs<Element>& in, const Element* out,
                                                 const Element* outer, const RowScale* scales,
                                                 const HeadGradients<Element>& gradients,
                                                 std::uint32_t* memory) {
  const HeadSizes s = sizes_of<Unit>(head);
  Pieces pieces(memory);
  const BackwardMemory m(s, pieces);
  if (memory == nullptr) return pieces.used();
  store_by_rows<Unit>(s, in.q, head.row, m.q);
  store_by_pairs<Unit>(s, in.q, head.row, m.q_pairs);
  store_by_rows<Unit>(s, in.k, head.row, m.k);
  transpose(s, m.k, m.k_transposed);
  store_by_pairs<Unit>(s, in.k, head.row, m.k_pairs);
  store_by_rows<Unit>(s, in.v, head.row, m.v);
  transpose(s, m.v, m.v_transposed);
  store_by_rows<Unit>(s, outer, head.out_row, m.outer);
  store_by_pairs<Unit>(s, outer, head.out_row, m.outer_pairs);
  store_means(head, out, outer, m.means);
  const Keeper keeper(head.dropping);
  const std::int64_t slopes_row = s.columns / Unit::kValues;
  for (std::int64_t first = 0; first < s.length; first += kBackwardRows) {
    const std::int64_t rows = std::min(kBackwardRows, s.length - first);
    const std::int64_t depth = (rows + Unit::kValues - 1) / Unit::kValues;
    const std::int64_t pairs = first / Unit::kValues * s.out;
    product<Unit>(rows, s.columns, s.depth, {m.q + first * s.row, s.row, 1},
                  {m.k_transposed, s.columns}, m.scores, s.columns);
    product<Unit>(rows, s.columns, s.depth, {m.outer + first * s.row, s.row, 1},
                  {m.v_transposed, s.columns}, m.weight_slopes, s.columns);
    store_slopes<Unit>(head, s, keeper, m, scales, first, rows);
    product<Unit>(rows, s.out, s.position_depth, {m.slopes, slopes_row, 1}, {m.k_pairs, s.out},
                  m.q_gradient, s.out);
    write_rows(s, m.q_gradient, rows, gradients.q + first * head.row, head.row);
    product<Unit>(s.length, s.out, depth, {m.slopes_pairs, 1, s.columns},
                  {m.q_pairs + pairs, s.out}, m.k_gradient, s.out, first > 0);
    product<Unit>(s.length, s.out, depth, {m.weights_pairs, 1, s.columns},
                  {m.outer_pairs + pairs, s.out}, m.v_gradient, s.out, first > 0);
  }
  write_rows(s, m.k_gradient, s.length, gradients.k, head.row);
  write_rows(s, m.v_gradient, s.length, gradients.v, head.row);
  return pieces.used();
}

template <class... Arguments>
ADDP_INLINE std::int64_t attention_of_floats_body(const Arguments&... arguments) {
  return attention_body<Single>(arguments...);
}
template <class... Arguments>
ADDP_INLINE std::int64_t attention_of_floats_backward_body(const Arguments&... arguments) {
  return attention_backward_body<Single>(arguments...);
}
