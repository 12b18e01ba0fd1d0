// Parts of 3x3 convolutions of stride 1 that keep the size of their maps, in 4/9 of the products
// (Winograd's F(2x2, 3x3)): 2x2 results depend on 4x4 inputs, and sums and differences of those
// make 16 products per pair of channels of what would be 36. Everything in float32; maps are
// [count, height, width, channels], channels side by side, weights [3, 3, inputs, outputs].
//
// A tile is 2x2 pixels. In between, a tile has 16 planes: those of its inputs, [16, tiles, inputs],
// those of its results, [16, tiles, outputs], and the weights', [16, inputs, outputs]. Plane by
// plane, results are the product of inputs and weights.
#pragma once

#include <cstdint>

namespace addp {

struct WinogradShape {
  std::int64_t count = 0, height = 0, width = 0;
  std::int64_t inputs = 0, outputs = 0;  // channels

  std::int64_t rows() const { return (height + 1) / 2; }
  std::int64_t columns() const { return (width + 1) / 2; }
  std::int64_t tiles() const { return count * rows() * columns(); }
  // Tiles of a convolution whose planes exist at a time: more where all the weights that are read
  // for them are more than a cache holds.
  std::int64_t block() const { return inputs * outputs > 256 * 256 ? 144 : 48; }
};

struct TileRange {
  std::int64_t first = 0, end = 0;
};

// Whether this processor has vectors that are worth it.
bool winograd_has_vectors();

// Floats of memory for what is in between.
struct WinogradFloats {
  std::int64_t weights;           // the weights' planes
  std::int64_t scratch;           // of winograd_convolve, per thread
  std::int64_t gradient;          // planes of the weights' gradient
  std::int64_t gradient_scratch;  // of winograd_add_products, per thread
};
WinogradFloats winograd_floats(const WinogradShape& shape);

// The planes of the weights of inputs first .. end.
void winograd_weights(const WinogradShape& shape, std::int64_t first, std::int64_t end,
                      const float* weights, float* planes);

// The results of at most shape.block() tiles of `x`; the bias may be null.
void winograd_convolve(const WinogradShape& shape, const TileRange& tiles, const float* x,
                       const float* weight_planes, const float* bias, float* out, float* scratch);

// The gradient of the weights is a sum over all tiles. First its planes, which are zeros before: in
// pieces first .. end of winograd_pieces(), each a part of four planes, so that no sum depends on
// how many threads there are ...
std::int64_t winograd_pieces(const WinogradShape& shape);
void winograd_add_products(const WinogradShape& shape, std::int64_t first, std::int64_t end,
                           const float* x, const float* outer, float* gradient_planes,
                           float* scratch);

// ... then the gradient itself, of the weights of inputs first .. end.
void winograd_gradient(const WinogradShape& shape, std::int64_t first, std::int64_t end,
                       const float* gradient_planes, float* gradient);

}  // namespace addp
