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
ADDP_INLINE std::int64_t input_plane(const WinogradShape& s) {
  return kWinogradGradientTiles * up_to(s.inputs, kLeftPanel);
}
ADDP_INLINE std::int64_t result_plane(const WinogradShape& s) {
  return kWinogradGradientTiles * up_to(s.outputs, kLanes);
}
ADDP_INLINE std::int64_t gradient_plane(const WinogradShape& s) {
  return up_to(s.inputs, kLeftPanel) * up_to(s.outputs, kLanes);
}

ADDP_INLINE WinogradFloats winograd_floats_body(const WinogradShape& s) {
  const std::int64_t rows = kWinogradTiles * (s.inputs + up_to(s.outputs, kLanes));
  return {.weights = kPlanes * weight_plane(s),
          .scratch = kPlanes * rows + s.inputs,
          .inputs = kPlanes * input_plane(s),
          .results = kPlanes * result_plane(s),
          .gradient = kPlanes * gradient_plane(s)};
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

// Where a tile's Side x Side pixels begin that reach `Before` beyond its own on the left and above;
// those outside of the map are at `nowhere`.
template <std::int64_t Side, std::int64_t Before, class Pointer>
ADDP_INLINE void find_pixels(const WinogradShape& s, std::int64_t tile, std::int64_t channels,
                             Pointer maps, Pointer nowhere, Pointer (&pixels)[Side * Side]) {
  const std::int64_t column = tile % s.columns(), row = tile / s.columns() % s.rows();
  const std::int64_t first = tile / (s.columns() * s.rows()) * s.height;
  for (std::int64_t i = 0; i < Side; ++i) {
    const std::int64_t y = 2 * row - Before + i;
    for (std::int64_t j = 0; j < Side; ++j) {
      const std::int64_t x = 2 * column - Before + j;
      const bool inside = y >= 0 && y < s.height && x >= 0 && x < s.width;
      pixels[i * Side + j] = inside ? maps + ((first + y) * s.width + x) * channels : nowhere;
    }
  }
}

// Calls put(plane, channel, count, value) with a tile's inputs as planes; zeros: [inputs].
template <class Put>
ADDP_INLINE void input_planes(const WinogradShape& s, std::int64_t tile, const float* x,
                              const float* zeros, const Put& put) {
  const float* pixels[16];
  find_pixels<4, 1>(s, tile, s.inputs, x, zeros, pixels);
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

// A tile's results from their planes, [16, kWinogradTiles, row].
ADDP_INLINE void write_results(const WinogradShape& s, std::int64_t tile, const float* planes,
                               std::int64_t row, const float* bias, float* out) {
  float* pixels[4];
  find_pixels<2, 0>(s, tile, s.outputs, out, static_cast<float*>(nullptr), pixels);
  for_vectors(
      s.outputs, [&](std::int64_t c, std::int64_t count) __attribute__((always_inline)) {
        Floats m[16], y[4];
#pragma GCC unroll 16
        for (std::int64_t i = 0; i < 16; ++i) m[i] = read(planes + i * kWinogradTiles * row + c);
        transform<4, 2>(m, y, OfResults());
        const Floats offset = bias == nullptr ? Floats{} : read(bias + c, count);
#pragma GCC unroll 4
        for (std::int64_t i = 0; i < 4; ++i) {
          if (pixels[i] != nullptr) write(pixels[i] + c, y[i] + offset, count);
        }
      });
}

ADDP_INLINE void winograd_convolve_body(const WinogradShape& s, const TileRange& tiles, const float* x,
                               const float* weight_planes, const float* bias, float* out,
                               float* scratch) {
  const std::int64_t row = up_to(s.outputs, kLanes), plane = kWinogradTiles * s.inputs;
  float *zeros = scratch + kPlanes * kWinogradTiles * row, *inputs = zeros + s.inputs;
  std::fill_n(zeros, s.inputs, 0.0F);
  for (std::int64_t tile = tiles.first; tile < tiles.end; ++tile) {
    float* to = inputs + (tile - tiles.first) * s.inputs;
    input_planes(
        s, tile, x, zeros,
        [&](std::int64_t i, std::int64_t c, std::int64_t count, const Floats& v)
            __attribute__((always_inline)) { write(to + i * plane + c, v, count); });
  }
  for (std::int64_t i = 0; i < kPlanes; ++i) {
    const Left left{reinterpret_cast<const std::uint32_t*>(inputs + i * plane), s.inputs, 1};
    for (std::int64_t number = 0; number < panels_of(s.outputs); ++number) {
      const Panel panel = panel_at(s.outputs, number);
      const float* right = weight_planes + i * weight_plane(s) + panel.first * s.inputs;
      product<FloatUnit>(tiles.end - tiles.first, panel.width, s.inputs, left,
                         Right{reinterpret_cast<const std::uint32_t*>(right), panel.width},
                         scratch + i * kWinogradTiles * row + panel.first, row);
    }
  }
  for (std::int64_t tile = tiles.first; tile < tiles.end; ++tile) {
    write_results(s, tile, scratch + (tile - tiles.first) * row, row, bias, out);
  }
}

ADDP_INLINE void winograd_planes_body(const WinogradShape& s, const TileRange& all, const TileRange& some,
                             const float* x, const float* outer, const float* zeros, float* inputs,
                             float* results) {
  const std::int64_t depth = all.end - all.first;
  for (std::int64_t tile = some.first; tile < some.end; ++tile) {
    const std::int64_t at = tile - all.first;
    input_planes(
        s, tile, x, zeros,
        [&](std::int64_t i, std::int64_t c, std::int64_t, const Floats& v)
            __attribute__((always_inline)) {
              const std::int64_t column = c % kLeftPanel;
              write(inputs + i * input_plane(s) + (c - column) * depth + at * kLeftPanel + column,
                    v);
            });
    const float* pixels[4];
    find_pixels<2, 0>(s, tile, s.outputs, outer, zeros, pixels);
    for (std::int64_t number = 0; number < panels_of(s.outputs); ++number) {
      const Panel panel = panel_at(s.outputs, number);
      float* to = results + panel.first * depth + at * panel.width;
      for (std::int64_t j = 0; j < panel.width; j += kLanes) {
        const std::int64_t c = panel.first + j;
        Floats y[4], m[16];
#pragma GCC unroll 4
        for (std::int64_t i = 0; i < 4; ++i) y[i] = read(pixels[i] + c, s.outputs - c);
        transform<2, 4>(y, m, OfOuter());
#pragma GCC unroll 16
        for (std::int64_t i = 0; i < 16; ++i) write(to + i * result_plane(s) + j, m[i]);
      }
    }
  }
}

// A piece: the columns of one panel, of one plane.
ADDP_INLINE std::int64_t winograd_pieces_body(const WinogradShape& s) {
  return kPlanes * panels_of(s.outputs);
}

ADDP_INLINE void winograd_add_products_body(const WinogradShape& s, const TileRange& all, std::int64_t first,
                                   std::int64_t end, const float* inputs, const float* results,
                                   float* gradient) {
  const std::int64_t depth = all.end - all.first, row = up_to(s.outputs, kLanes);
  for (std::int64_t piece = first; piece < end; ++piece) {
    const std::int64_t plane = piece / panels_of(s.outputs);
    const Panel panel = panel_at(s.outputs, piece % panels_of(s.outputs));
    const float* right = results + plane * result_plane(s) + panel.first * depth;
    for (std::int64_t in = 0; in < s.inputs; in += kLeftPanel) {
      const float* left = inputs + plane * input_plane(s) + in * depth;
      product<FloatUnit>(std::min(kLeftPanel, s.inputs - in), panel.width, depth,
                         Left{reinterpret_cast<const std::uint32_t*>(left), 1, kLeftPanel},
                         Right{reinterpret_cast<const std::uint32_t*>(right), panel.width},
                         gradient + plane * gradient_plane(s) + in * row + panel.first, row,
                         /*add=*/true);
    }
  }
}

ADDP_INLINE void winograd_gradient_body(const WinogradShape& s, std::int64_t first, std::int64_t end,
                               const float* planes, float* gradient) {
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
