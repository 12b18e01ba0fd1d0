// The matrices of one head of attention, in the forms that tile_products.h multiplies. Included by
// attention_bodies.h.
//
// A word is a float (Single) or two bfloat16 that follow each other along the sum (Pair). A matrix
// X [rows, columns] is stored
//   by rows:      word j of row i holds columns j, or 2 j and 2 j + 1
//   transposed:   the same words, row j of them for all i
//   by pairs:     word j of row i holds column j of row i, or of rows 2 i and 2 i + 1.

struct Single : FloatUnit {
  static constexpr std::int64_t kValues = 1;  // per word
  static constexpr float kUnit = 1;           // of exponents: of e

  ADDP_INLINE static Floats power(const Floats& exponent) { return exp_of_negative(exponent); }
  ADDP_INLINE static void write_row(std::uint32_t* row, std::int64_t i, const Floats& x) {
    store(row + i, x);
  }
  ADDP_INLINE static void write_pair(std::uint32_t* row, std::int64_t i, const Floats& first,
                                     const Floats&) {
    store(row + i, first);
  }
};

// With instructions of AVX-512 that vectors as such have no words for.
struct Pair {
  static constexpr std::int64_t kValues = 2;
  static constexpr float kUnit = 1.44269504088896341F;  // exponents are of 2

  // Within 5e-5, where a bfloat16 is within 2e-3: the series of 2^x for the part behind the point.
  ADDP_INLINE static Floats power(const Floats& exponent) {
    Floats whole = exponent;
    ADDP_PAIR_ASM("vrndscaleps $8, %1, %0" : "=v"(whole) : "v"(exponent));
    const Floats x = exponent - whole;
    const Floats p =
        (((x * 9.6181291e-3F + 5.5504109e-2F) * x + 0.24022651F) * x + 0.69314718F) * x + 1.0F;
    Floats scaled = p;
    ADDP_PAIR_ASM("vscalefps %2, %1, %0" : "=v"(scaled) : "v"(p), "v"(whole));
    return scaled;
  }
  ADDP_INLINE static void add_product(Floats& total, const Words& a, const Words& b) {
    ADDP_PAIR_ASM("vdpbf16ps %2, %1, %0" : "+v"(total) : "v"(a), "v"(b));
  }
  ADDP_INLINE static void write_row(std::uint32_t* row, std::int64_t i, const Floats& x) {
    store(reinterpret_cast<Bf16*>(row) + i, rounded(x));
  }
  ADDP_INLINE static void write_pair(std::uint32_t* row, std::int64_t i, const Floats& first,
                                     const Floats& second) {
    store(row + i, __builtin_convertvector(rounded(first), Words) |
                       (__builtin_convertvector(rounded(second), Words) << 16));
  }

 private:
  ADDP_INLINE static Halves rounded(const Floats& x) {
    Halves halves{};
    ADDP_PAIR_ASM("vcvtneps2bf16 %1, %0" : "=v"(halves) : "v"(x));
    return halves;
  }
};

// Sizes of the stored matrices, in words. Rows of results are padded to whole tiles, of transposed
// ones to whole vectors.
struct HeadSizes {
  std::int64_t length, width;   // what there is
  std::int64_t rows;            // positions, padded
  std::int64_t columns;         // positions as columns, padded to vectors
  std::int64_t depth;           // words of a row of q, k, v
  std::int64_t row;             // the same, padded to vectors
  std::int64_t out;             // width as columns, padded to vectors
  std::int64_t position_depth;  // words along the positions
};

template <class Unit>
ADDP_INLINE HeadSizes sizes_of(const AttentionHead& head) {
  const auto words = [](std::int64_t values) {
    return (values + Unit::kValues - 1) / Unit::kValues;
  };
  return {.length = head.length,
          .width = head.width,
          .rows = up_to(head.length, kLanes) + kTileRows,
          .columns = up_to(head.length, kLanes),
          .depth = words(head.width),
          .row = up_to(words(head.width), kLanes),
          .out = up_to(head.width, kLanes),
          .position_depth = words(head.length)};
}

// x [length, width] by rows, padded with zeros: [rows, row].
template <class Unit, class Element>
ADDP_INLINE void store_by_rows(const HeadSizes& s, const Element* x, std::int64_t x_row,
                               std::uint32_t* to) {
  for (std::int64_t i = 0; i < s.rows; ++i) {
    std::uint32_t* row = to + i * s.row;
    if (i >= s.length || s.width % kLanes != 0 || s.depth % kLanes != 0) {
      std::memset(row, 0, static_cast<std::size_t>(s.row) * sizeof(*row));
    }
    if (i >= s.length) continue;
    for_vectors(
        s.width, [&](std::int64_t j, std::int64_t n) __attribute__((always_inline)) {
          const Floats v = read(x + i * x_row + j, n);
          if constexpr (Unit::kValues == 1) {
            write(reinterpret_cast<float*>(row) + j, v, n);
          } else {
            write(reinterpret_cast<Bf16*>(row) + j, v, n);
          }
        });
  }
}

// x [length, width] by pairs of rows: [position_depth, out].
template <class Unit, class Element>
ADDP_INLINE void store_by_pairs(const HeadSizes& s, const Element* x, std::int64_t x_row,
                                std::uint32_t* to) {
  for (std::int64_t i = 0; i < s.position_depth; ++i) {
    const std::int64_t first = Unit::kValues * i, second = first + 1;
    for (std::int64_t j = 0; j < s.out; j += kLanes) {
      const std::int64_t n = s.width - j;
      const Floats a = read(x + first * x_row + j, n);
      const Floats b =
          Unit::kValues == 2 && second < s.length ? read(x + second * x_row + j, n) : Floats{};
      Unit::write_pair(to + i * s.out, j, a, b);
    }
  }
}

template <std::int64_t Step, std::size_t... Lane>
ADDP_INLINE void swap_blocks(Words& a, Words& b, std::index_sequence<Lane...>) {
  const Words low = __builtin_shufflevector(
      a, b, (Lane & Step ? static_cast<int>(Lane - Step + kLanes) : static_cast<int>(Lane))...);
  const Words high = __builtin_shufflevector(
      a, b, (Lane & Step ? static_cast<int>(Lane + kLanes) : static_cast<int>(Lane + Step))...);
  a = low;
  b = high;
}

template <std::int64_t Step>
ADDP_INLINE void transpose_blocks(Words (&tile)[kLanes]) {
#pragma GCC unroll 16
  for (std::int64_t i = 0; i < kLanes; ++i) {
    if ((i & Step) == 0) {
      swap_blocks<Step>(tile[i], tile[i + Step], std::make_index_sequence<kLanes>());
    }
  }
  if constexpr (Step > 1) transpose_blocks<Step / 2>(tile);
}

// What store_by_rows wrote, [columns, row], as [row, columns].
ADDP_INLINE void transpose(const HeadSizes& s, const std::uint32_t* from, std::uint32_t* to) {
  for (std::int64_t i = 0; i < s.columns; i += kLanes) {
    for (std::int64_t j = 0; j < s.row; j += kLanes) {
      Words tile[kLanes];
#pragma GCC unroll 16
      for (std::int64_t k = 0; k < kLanes; ++k) tile[k] = load<Words>(from + (i + k) * s.row + j);
      transpose_blocks<kLanes / 2>(tile);
#pragma GCC unroll 16
      for (std::int64_t k = 0; k < kLanes; ++k) store(to + (j + k) * s.columns + i, tile[k]);
    }
  }
}
