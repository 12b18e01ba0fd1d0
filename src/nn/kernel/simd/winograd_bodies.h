// The loops of winograd_kernels.h. Included by winograd_kernels.cpp once for each width of vectors.

inline constexpr std::int64_t kPlanes = 16;

// A matrix that is multiplied from the right is kept in panels of as many columns as a tile of
// registers has; the last one may be narrower. Each is [depth, width].
inline constexpr std::int64_t kPanel = kTileVectors * kLanes;

struct Panel {
  std::int64_t first, width;
};
ADDP_INLINE std::int64_t panels_of(std::int64_t columns) { return (columns + kPanel - 1) / kPanel; }
ADDP_INLINE Panel panel_at(std::int64_t columns, std::int64_t number) {
  const std::int64_t first = number * kPanel;
  return {first, std::min(kPanel, up_to(columns, kLanes) - first)};
}

// One that is multiplied from the left after transposing: panels of this many columns, a multiple
// of kTileRows, each [depth, kLeftPanel].
inline constexpr std::int64_t kLeftPanel = 3 * kLanes;

ADDP_INLINE std::int64_t weight_plane(const WinogradShape& s) {
  return s.inputs * up_to(s.outputs, kLanes);
}
// Of a gradient, four planes of so many tiles exist at a time.
inline constexpr std::int64_t kGradientTiles = 128;

ADDP_INLINE std::int64_t input_plane(const WinogradShape& s) {
  return kGradientTiles * up_to(s.inputs, kLeftPanel);
}
ADDP_INLINE std::int64_t result_plane(const WinogradShape& s) {
  return kGradientTiles * up_to(s.outputs, kLanes);
}
ADDP_INLINE std::int64_t gradient_plane(const WinogradShape& s) {
  return up_to(s.inputs, kLeftPanel) * up_to(s.outputs, kLanes);
}

ADDP_INLINE WinogradFloats winograd_floats_body(const WinogradShape& s) {
  return {
      .weights = kPlanes * weight_plane(s),
      .scratch = kPlanes * s.block() * (s.inputs + kPanel) + s.inputs,
      .gradient = kPlanes * gradient_plane(s),
      .gradient_scratch = 4 * (input_plane(s) + result_plane(s)) + std::max(s.inputs, s.outputs)};
}

// Applies along(four of one side) -> four (three, two) to the columns and then to the rows of a
// square that lies row by row.
template <std::int64_t From, std::int64_t To, class Along>
ADDP_INLINE void transform(const Floats (&in)[From * From], Floats (&out)[To * To],
                           const Along& along) {
  Floats half[To * From];
#pragma GCC unroll 4
  for (std::int64_t j = 0; j < From; ++j) {
    Floats from[From], to[To];
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < From; ++i) from[i] = in[i * From + j];
    along(from, to);
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < To; ++i) half[i * From + j] = to[i];
  }
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < To; ++i) {
    Floats from[From], to[To];
#pragma GCC unroll 4
    for (std::int64_t j = 0; j < From; ++j) from[j] = half[i * From + j];
    along(from, to);
#pragma GCC unroll 4
    for (std::int64_t j = 0; j < To; ++j) out[i * To + j] = to[j];
  }
}

struct OfInputs {
  ADDP_INLINE void operator()(const Floats (&d)[4], Floats (&v)[4]) const {
    v[0] = d[0] - d[2];
    v[1] = d[1] + d[2];
    v[2] = d[2] - d[1];
    v[3] = d[1] - d[3];
  }
};
struct OfWeights {
  ADDP_INLINE void operator()(const Floats (&g)[3], Floats (&u)[4]) const {
    const Floats ends = (g[0] + g[2]) * 0.5F, middle = g[1] * 0.5F;
    u[0] = g[0];
    u[1] = ends + middle;
    u[2] = ends - middle;
    u[3] = g[2];
  }
};
struct OfResults {
  ADDP_INLINE void operator()(const Floats (&m)[4], Floats (&y)[2]) const {
    y[0] = m[0] + m[1] + m[2];
    y[1] = m[1] - m[2] - m[3];
  }
};
// The transposes of the last two, for gradients.
struct OfOuter {
  ADDP_INLINE void operator()(const Floats (&y)[2], Floats (&m)[4]) const {
    m[0] = y[0];
    m[1] = y[0] + y[1];
    m[2] = y[0] - y[1];
    m[3] = -y[1];
  }
};
struct OfGradient {
  ADDP_INLINE void operator()(const Floats (&u)[4], Floats (&g)[3]) const {
    const Floats sum = (u[1] + u[2]) * 0.5F;
    g[0] = u[0] + sum;
    g[1] = (u[1] - u[2]) * 0.5F;
    g[2] = sum + u[3];
  }
};

// Where a tile lies. One follows the other, so that only the first takes divisions.
class TilePlace {
 public:
  ADDP_INLINE TilePlace(const WinogradShape& s, std::int64_t tile)
      : s_(s),
        column_(tile % s.columns()),
        row_(tile / s.columns() % s.rows()),
        first_(tile / (s.columns() * s.rows()) * s.height) {}

  ADDP_INLINE void next() {
    if (++column_ < s_.columns()) return;
    column_ = 0;
    if (++row_ < s_.rows()) return;
    row_ = 0;
    first_ += s_.height;
  }

  // Where Side x Side pixels begin that reach `Before` beyond the tile's own on the left and above;
  // those outside of the map are at `nowhere`.
  template <std::int64_t Side, std::int64_t Before, class Pointer>
  ADDP_INLINE void find_pixels(std::int64_t channels, Pointer maps, Pointer nowhere,
                               Pointer (&pixels)[Side * Side]) const {
    for (std::int64_t i = 0; i < Side; ++i) {
      const std::int64_t y = 2 * row_ - Before + i;
      for (std::int64_t j = 0; j < Side; ++j) {
        const std::int64_t x = 2 * column_ - Before + j;
        const bool inside = y >= 0 && y < s_.height && x >= 0 && x < s_.width;
        pixels[i * Side + j] = inside ? maps + ((first_ + y) * s_.width + x) * channels : nowhere;
      }
    }
  }

 private:
  WinogradShape s_;
  std::int64_t column_, row_;
  std::int64_t first_;  // row of pixels that the tile's picture begins at
};

// Calls put(plane, channel, count, value) with a tile's inputs as planes; zeros: [inputs].
template <class Put>
ADDP_INLINE void input_planes(const WinogradShape& s, const TilePlace& place, const float* x,
                              const float* zeros, const Put& put) {
  const float* pixels[16];
  place.find_pixels<4, 1>(s.inputs, x, zeros, pixels);
  for_vectors(
      s.inputs, [&](std::int64_t c, std::int64_t count) __attribute__((always_inline)) {
        Floats d[16], v[16];
#pragma GCC unroll 16
        for (std::int64_t i = 0; i < 16; ++i) d[i] = read(pixels[i] + c, count);
        transform<4, 4>(d, v, OfInputs());
#pragma GCC unroll 16
        for (std::int64_t i = 0; i < 16; ++i) put(i, c, count, v[i]);
      });
}

ADDP_INLINE void winograd_weights_body(const WinogradShape& s, std::int64_t first, std::int64_t end,
                                       const float* weights, float* planes) {
  for (std::int64_t number = 0; number < panels_of(s.outputs); ++number) {
    const Panel panel = panel_at(s.outputs, number);
    for (std::int64_t in = first; in < end; ++in) {
      for (std::int64_t j = 0; j < panel.width; j += kLanes) {
        const std::int64_t out = panel.first + j;
        Floats g[9], u[16];
#pragma GCC unroll 9
        for (std::int64_t i = 0; i < 9; ++i) {
          g[i] = read(weights + (i * s.inputs + in) * s.outputs + out, s.outputs - out);
        }
        transform<3, 4>(g, u, OfWeights());
        float* to = planes + panel.first * s.inputs + in * panel.width + j;
#pragma GCC unroll 16
        for (std::int64_t i = 0; i < 16; ++i) write(to + i * weight_plane(s), u[i]);
      }
    }
  }
}

// A tile's results of the channels of a panel from their planes, [16, s.block(), panel.width].
ADDP_INLINE void write_results(const WinogradShape& s, const Panel& panel, const TilePlace& place,
                               const float* planes, const float* bias, float* out) {
  float* pixels[4];
  place.find_pixels<2, 0>(s.outputs, out, static_cast<float*>(nullptr), pixels);
  const std::int64_t plane = s.block() * panel.width;
  for (std::int64_t j = 0; j < panel.width; j += kLanes) {
    const std::int64_t c = panel.first + j, count = s.outputs - c;
    Floats m[16], y[4];
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < 16; ++i) m[i] = read(planes + i * plane + j);
    transform<4, 2>(m, y, OfResults());
    const Floats offset = bias == nullptr ? Floats{} : read(bias + c, count);
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < 4; ++i) {
      if (pixels[i] != nullptr) write(pixels[i] + c, y[i] + offset, count);
    }
  }
}

ADDP_INLINE void winograd_convolve_body(const WinogradShape& s, const TileRange& tiles,
                                        const float* x, const float* weight_planes,
                                        const float* bias, float* out, float* scratch) {
  const std::int64_t count = tiles.end - tiles.first, plane = s.block() * s.inputs;
  float *results = scratch, *inputs = results + kPlanes * s.block() * kPanel,
        *zeros = inputs + kPlanes * plane;
  std::fill_n(zeros, s.inputs, 0.0F);
  const TilePlace first(s, tiles.first);
  TilePlace place = first;
  for (std::int64_t tile = 0; tile < count; ++tile, place.next()) {
    float* to = inputs + tile * s.inputs;
    input_planes(
        s, place, x, zeros,
        [&](std::int64_t i, std::int64_t c, std::int64_t n, const Floats& v)
            __attribute__((always_inline)) { write(to + i * plane + c, v, n); });
  }
  for (std::int64_t number = 0; number < panels_of(s.outputs); ++number) {
    const Panel panel = panel_at(s.outputs, number);
    for (std::int64_t i = 0; i < kPlanes; ++i) {
      const Left left{reinterpret_cast<const std::uint32_t*>(inputs + i * plane), s.inputs, 1};
      const float* right = weight_planes + i * weight_plane(s) + panel.first * s.inputs;
      product<FloatUnit>(count, panel.width, s.inputs, left,
                         Right{reinterpret_cast<const std::uint32_t*>(right), panel.width},
                         results + i * s.block() * panel.width, panel.width);
    }
    place = first;
    for (std::int64_t tile = 0; tile < count; ++tile, place.next()) {
      write_results(s, panel, place, results + tile * panel.width, bias, out);
    }
  }
}

// Along the columns of a tile: what the planes of row Row, four of the sixteen, are made of. Of its
// inputs ...
template <std::int64_t Row>
ADDP_INLINE Floats input_row(const float* const (&pixels)[16], std::int64_t j, std::int64_t c,
                             std::int64_t count) {
  constexpr std::int64_t kFirst[4] = {0, 1, 2, 1}, kSecond[4] = {2, 2, 1, 3};
  const Floats a = read(pixels[kFirst[Row] * 4 + j] + c, count),
               b = read(pixels[kSecond[Row] * 4 + j] + c, count);
  return Row == 1 ? a + b : a - b;
}
// ... and of the gradient of its results.
template <std::int64_t Row>
ADDP_INLINE Floats outer_row(const float* const (&pixels)[4], std::int64_t j, std::int64_t c,
                             std::int64_t count) {
  if constexpr (Row == 0) return read(pixels[j] + c, count);
  if constexpr (Row == 3) return -read(pixels[2 + j] + c, count);
  const Floats a = read(pixels[j] + c, count), b = read(pixels[2 + j] + c, count);
  return Row == 1 ? a + b : a - b;
}

struct PanelRange {
  std::int64_t first, end;
};

struct GradientScratch {
  float *inputs, *results, *zeros;
};

// The four planes of `tiles`.
template <std::int64_t Row>
ADDP_INLINE void row_planes(const WinogradShape& s, const TileRange& tiles,
                            const PanelRange& panels, const float* x, const float* outer,
                            const GradientScratch& to) {
  const std::int64_t depth = tiles.end - tiles.first;
  TilePlace place(s, tiles.first);
  for (std::int64_t at = 0; at < depth; ++at, place.next()) {
    const float *inputs[16], *outers[4], *zeros = to.zeros;
    place.find_pixels<4, 1>(s.inputs, x, zeros, inputs);
    place.find_pixels<2, 0>(s.outputs, outer, zeros, outers);
    for (std::int64_t c = 0; c < s.inputs; c += kLanes) {
      Floats d[4], v[4];
#pragma GCC unroll 4
      for (std::int64_t j = 0; j < 4; ++j) d[j] = input_row<Row>(inputs, j, c, s.inputs - c);
      OfInputs()(d, v);
      const std::int64_t column = c % kLeftPanel;
      float* plane = to.inputs + (c - column) * depth + at * kLeftPanel + column;
#pragma GCC unroll 4
      for (std::int64_t j = 0; j < 4; ++j) write(plane + j * input_plane(s), v[j]);
    }
    for (std::int64_t number = panels.first; number < panels.end; ++number) {
      const Panel panel = panel_at(s.outputs, number);
      for (std::int64_t k = 0; k < panel.width; k += kLanes) {
        const std::int64_t c = panel.first + k;
        Floats y[2], m[4];
#pragma GCC unroll 2
        for (std::int64_t j = 0; j < 2; ++j) y[j] = outer_row<Row>(outers, j, c, s.outputs - c);
        OfOuter()(y, m);
        float* plane = to.results + panel.first * depth + at * panel.width + k;
#pragma GCC unroll 4
        for (std::int64_t j = 0; j < 4; ++j) write(plane + j * result_plane(s), m[j]);
      }
    }
  }
}

ADDP_INLINE void add_row_products(const WinogradShape& s, std::int64_t depth,
                                  const PanelRange& panels, const GradientScratch& from,
                                  float* gradient) {
  const std::int64_t row = up_to(s.outputs, kLanes);
  for (std::int64_t j = 0; j < 4; ++j) {
    for (std::int64_t number = panels.first; number < panels.end; ++number) {
      const Panel panel = panel_at(s.outputs, number);
      const float* right = from.results + j * result_plane(s) + panel.first * depth;
      for (std::int64_t in = 0; in < s.inputs; in += kLeftPanel) {
        const float* left = from.inputs + j * input_plane(s) + in * depth;
        product<FloatUnit>(std::min(kLeftPanel, s.inputs - in), panel.width, depth,
                           Left{reinterpret_cast<const std::uint32_t*>(left), 1, kLeftPanel},
                           Right{reinterpret_cast<const std::uint32_t*>(right), panel.width},
                           gradient + j * gradient_plane(s) + in * row + panel.first, row,
                           /*add=*/true);
      }
    }
  }
}

// A piece: the columns of one panel, of a row of planes.
ADDP_INLINE std::int64_t winograd_pieces_body(const WinogradShape& s) {
  return 4 * panels_of(s.outputs);
}

ADDP_INLINE void winograd_add_products_body(const WinogradShape& s, std::int64_t first,
                                            std::int64_t end, const float* x, const float* outer,
                                            float* gradient, float* scratch) {
  const GradientScratch memory{scratch, scratch + 4 * input_plane(s),
                               scratch + 4 * (input_plane(s) + result_plane(s))};
  std::fill_n(memory.zeros, std::max(s.inputs, s.outputs), 0.0F);
  const std::int64_t count = panels_of(s.outputs);
  for (std::int64_t piece = first; piece < end;) {
    const std::int64_t row = piece / count, begin = piece % count;
    const PanelRange panels{begin, std::min(count, begin + end - piece)};
    piece += panels.end - panels.first;
    for (std::int64_t tile = 0; tile < s.tiles(); tile += kGradientTiles) {
      const TileRange tiles{tile, std::min(tile + kGradientTiles, s.tiles())};
      switch (row) {
        case 0:
          row_planes<0>(s, tiles, panels, x, outer, memory);
          break;
        case 1:
          row_planes<1>(s, tiles, panels, x, outer, memory);
          break;
        case 2:
          row_planes<2>(s, tiles, panels, x, outer, memory);
          break;
        default:
          row_planes<3>(s, tiles, panels, x, outer, memory);
      }
      add_row_products(s, tiles.end - tiles.first, panels, memory,
                       gradient + 4 * row * gradient_plane(s));
    }
  }
}

ADDP_INLINE void winograd_gradient_body(const WinogradShape& s, std::int64_t first,
                                        std::int64_t end, const float* planes, float* gradient) {
  const std::int64_t row = up_to(s.outputs, kLanes);
  for (std::int64_t in = first; in < end; ++in) {
    for_vectors(
        s.outputs, [&](std::int64_t out, std::int64_t count) __attribute__((always_inline)) {
          Floats u[16], g[9];
#pragma GCC unroll 16
          for (std::int64_t i = 0; i < 16; ++i) {
            u[i] = read(planes + i * gradient_plane(s) + in * row + out);
          }
          transform<4, 3>(u, g, OfGradient());
#pragma GCC unroll 9
          for (std::int64_t i = 0; i < 9; ++i) {
            write(gradient + (i * s.inputs + in) * s.outputs + out, g[i], count);
          }
        });
  }
}
