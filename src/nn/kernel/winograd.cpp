#include "nn/kernel/winograd.h"

#include <ATen/record_function.h>

#include <array>
#include <optional>
#include <vector>

#include "machine/parallel.h"
#include "machine/precision.h"
#include "nn/kernel/simd/scratch.h"
#include "nn/kernel/simd/winograd_kernels.h"
#include "nn/torch.h"

namespace addp {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

WinogradShape winograd_shape(const Tensor& x, std::int64_t outputs) {
  return {x.size(0), x.size(2), x.size(3), x.size(1), outputs};
}

Tensor channels_last(const Tensor& x) { return x.contiguous(torch::MemoryFormat::ChannelsLast); }

// Weights [outputs, inputs, 3, 3] as the kernels take them, [3, 3, inputs, outputs]; or as those of
// the gradient of the inputs, whose inputs are the outputs.
Tensor in_order(const Tensor& weight) { return weight.permute({2, 3, 1, 0}).contiguous(); }
Tensor turned_round(const Tensor& weight) {
  return weight.flip({2, 3}).permute({2, 3, 0, 1}).contiguous();
}

Tensor convolve(const Tensor& maps, const Tensor& ordered, const Tensor& bias) {
  const Tensor x = channels_last(maps);
  const WinogradShape shape = winograd_shape(x, ordered.size(3));
  const Tensor out = torch::empty({shape.count, shape.outputs, shape.height, shape.width},
                                  torch::MemoryFormat::ChannelsLast);
  RECORD_FUNCTION("addp::convolution 3x3", std::vector<c10::IValue>({x, ordered, out}));
  const WinogradFloats sizes = winograd_floats(shape);
  const Tensor planes = torch::empty({sizes.weights});
  for_parts(shape.inputs, 4, [&](std::int64_t first, std::int64_t end) {
    winograd_weights(shape, first, end, ordered.const_data_ptr<float>(), planes.data_ptr<float>());
  });
  const float* offset = bias.defined() ? bias.const_data_ptr<float>() : nullptr;
  const std::int64_t size = shape.block(), blocks = (shape.tiles() + size - 1) / size;
  for_parts(blocks, 1, [&](std::int64_t first, std::int64_t end) {
    float* scratch = own_scratch().floats(sizes.scratch);
    for (std::int64_t block = first; block < end; ++block) {
      const TileRange tiles{block * size, std::min((block + 1) * size, shape.tiles())};
      winograd_convolve(shape, tiles, x.const_data_ptr<float>(), planes.const_data_ptr<float>(),
                        offset, out.data_ptr<float>(), scratch);
    }
  });
  return out;
}

Tensor weight_gradient(const Tensor& x, const Tensor& outer) {
  const WinogradShape shape = winograd_shape(x, outer.size(1));
  const Tensor gradient = torch::empty({3, 3, shape.inputs, shape.outputs});
  RECORD_FUNCTION("addp::convolution backward 3x3", std::vector<c10::IValue>({x, gradient, outer}));
  const WinogradFloats sizes = winograd_floats(shape);
  const Tensor planes = torch::zeros({sizes.gradient});
  for_parts(winograd_pieces(shape), 1, [&](std::int64_t first, std::int64_t end) {
    winograd_add_products(shape, first, end, x.const_data_ptr<float>(),
                          outer.const_data_ptr<float>(), planes.data_ptr<float>(),
                          own_scratch().floats(sizes.gradient_scratch));
  });
  for_parts(shape.inputs, 4, [&](std::int64_t first, std::int64_t end) {
    winograd_gradient(shape, first, end, planes.const_data_ptr<float>(),
                      gradient.data_ptr<float>());
  });
  return gradient.permute({3, 2, 0, 1}).contiguous();
}

class Winograd : public torch::autograd::Function<Winograd> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& maps, const Tensor& weight,
                        const std::optional<Tensor>& bias) {
    const Tensor x = channels_last(maps);
    context->save_for_backward({x, weight});
    context->saved_data["bias"] = bias.has_value();
    return convolve(x, in_order(weight), bias.value_or(Tensor()));
  }

  static variable_list backward(AutogradContext* context, variable_list outers) {
    const auto saved = context->get_saved_variables();
    const Tensor &x = saved[0], &weight = saved[1];
    const bool with_bias = context->saved_data["bias"].toBool();
    const std::array<bool, 3> wanted{context->needs_input_grad(0), context->needs_input_grad(1),
                                     with_bias && context->needs_input_grad(2)};
    const Tensor outer = channels_last(outers[0]);
    if (at::GradMode::is_enabled()) {  // gradients of gradients
      const auto all = at::convolution_backward(outer, x, weight, at::IntArrayRef(weight.size(0)),
                                                {1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 1, wanted);
      return {std::get<0>(all), std::get<1>(all), std::get<2>(all)};
    }
    return {wanted[0] ? convolve(outer, turned_round(weight), {}) : Tensor(),
            wanted[1] ? weight_gradient(x, outer) : Tensor(),
            wanted[2] ? outer.sum({0, 2, 3}) : Tensor()};
  }
};

}  // namespace

bool suits_winograd(const Tensor& x, const Tensor& weight) {
  // Fewer channels do not fill vectors and products; few tiles do not repay transformed weights.
  constexpr std::int64_t kChannels = 32, kTiles = 256;
  if (weight.dim() != 4 || weight.size(2) != 3 || weight.size(3) != 3) return false;
  if (weight.size(0) < kChannels || weight.size(1) < kChannels) return false;
  if (!x.is_cpu() || x.dim() != 4 || reference_arithmetic() || !winograd_has_vectors())
    return false;
  return x.scalar_type() == torch::kFloat32 && weight.scalar_type() == torch::kFloat32 &&
         product_type(x) == torch::kFloat32 && winograd_shape(x, weight.size(0)).tiles() >= kTiles;
}

Tensor winograd_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return Winograd::apply(x, weight, bias.defined() ? std::optional(bias) : std::nullopt);
}

}  // namespace addp
