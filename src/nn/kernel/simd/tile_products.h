// Products of small matrices, tile by tile in registers. Included by simd.h once for each width, as
// vectors.h is. Factors are 32-bit words; what a word is, and how two of them are multiplied, is
// the Unit's matter.

// A word is a float.
struct FloatUnit {
  ADDP_INLINE static void add_product(Floats& total, const Words& a, const Words& b) {
    total += load<Floats>(&a) * load<Floats>(&b);
  }
};

ADDP_INLINE std::int64_t up_to(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// A tile of a product is kept in registers: kTileRows times at most kTileVectors vectors.
inline constexpr std::int64_t kTileRows = 6, kTileVectors = kLanes == 16 ? 4 : 2;

// The left factor: word k of row r is words[r * row + k * step].
struct Left {
  const std::uint32_t* words;
  std::int64_t row, step;
};

// Row k of the right factor begins at words + k * row.
struct Right {
  const std::uint32_t* words;
  std::int64_t row;
};

template <class Unit, std::int64_t Vectors>
ADDP_INLINE void product_tile(const Left& left, const Right& right, std::int64_t depth, float* out,
                              std::int64_t out_row, bool add) {
  Floats total[kTileRows][Vectors];
#pragma GCC unroll 6
  for (std::int64_t r = 0; r < kTileRows; ++r) {
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < Vectors; ++v) {
      total[r][v] = add ? read(out + r * out_row + v * kLanes) : Floats{};
    }
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    Words b[Vectors];
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < Vectors; ++v) {
      b[v] = load<Words>(right.words + k * right.row + v * kLanes);
    }
#pragma GCC unroll 6
    for (std::int64_t r = 0; r < kTileRows; ++r) {
      const Words a = Words{} + load<std::uint32_t>(left.words + r * left.row + k * left.step);
#pragma GCC unroll 4
      for (std::int64_t v = 0; v < Vectors; ++v) Unit::add_product(total[r][v], a, b[v]);
    }
  }
#pragma GCC unroll 6
  for (std::int64_t r = 0; r < kTileRows; ++r) {
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < Vectors; ++v) {
      write(out + r * out_row + v * kLanes, total[r][v]);
    }
  }
}

// out [rows, columns] = left [rows, depth words] right [depth words, columns], or added to it. Rows
// up to the next multiple of kTileRows and columns up to a full vector are computed, too.
template <class Unit>
ADDP_INLINE void product(std::int64_t rows, std::int64_t columns, std::int64_t depth,
                         const Left& left, const Right& right, float* out, std::int64_t out_row,
                         bool add = false) {
  for (std::int64_t column = 0; column < columns; column += kTileVectors * kLanes) {
    const std::int64_t vectors = std::min(kTileVectors, (columns - column + kLanes - 1) / kLanes);
    const Right from{right.words + column, right.row};
    for (std::int64_t row = 0; row < rows; row += kTileRows) {
      const Left rows_of{left.words + row * left.row, left.row, left.step};
      float* to = out + row * out_row + column;
      switch (vectors) {
        case 1:
          product_tile<Unit, 1>(rows_of, from, depth, to, out_row, add);
          break;
        case 2:
          product_tile<Unit, 2>(rows_of, from, depth, to, out_row, add);
          break;
        case 3:
          product_tile<Unit, std::min<std::int64_t>(3, kTileVectors)>(rows_of, from, depth, to,
                                                                      out_row, add);
          break;
        default:
          product_tile<Unit, kTileVectors>(rows_of, from, depth, to, out_row, add);
      }
    }
  }
}
