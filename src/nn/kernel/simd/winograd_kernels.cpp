#include "nn/kernel/simd/winograd_kernels.h"

#include <algorithm>

#include "nn/kernel/simd/simd.h"

namespace addp {
namespace {

#define ADDP_BODIES "nn/kernel/simd/winograd_bodies.h"
#include "nn/kernel/simd/both_widths.h"

ADDP_KERNEL(winograd_floats)
ADDP_KERNEL(winograd_weights)
ADDP_KERNEL(winograd_convolve)
ADDP_KERNEL(winograd_pieces)
ADDP_KERNEL(winograd_add_products)
ADDP_KERNEL(winograd_gradient)

}  // namespace

bool winograd_has_vectors() { return simd::processor() != simd::Processor::kPlain; }

WinogradFloats winograd_floats(const WinogradShape& shape) {
  return on_processor_winograd_floats(shape);
}

void winograd_weights(const WinogradShape& shape, std::int64_t first, std::int64_t end,
                      const float* weights, float* planes) {
  on_processor_winograd_weights(shape, first, end, weights, planes);
}

void winograd_convolve(const WinogradShape& shape, const TileRange& tiles, const float* x,
                       const float* weight_planes, const float* bias, float* out, float* scratch) {
  on_processor_winograd_convolve(shape, tiles, x, weight_planes, bias, out, scratch);
}

std::int64_t winograd_pieces(const WinogradShape& shape) {
  return on_processor_winograd_pieces(shape);
}

void winograd_add_products(const WinogradShape& shape, std::int64_t first, std::int64_t end,
                           const float* x, const float* outer, float* gradient_planes,
                           float* scratch) {
  on_processor_winograd_add_products(shape, first, end, x, outer, gradient_planes, scratch);
}

void winograd_gradient(const WinogradShape& shape, std::int64_t first, std::int64_t end,
                       const float* gradient_planes, float* gradient) {
  on_processor_winograd_gradient(shape, first, end, gradient_planes, gradient);
}

}  // namespace addp
