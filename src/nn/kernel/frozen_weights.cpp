#include "nn/kernel/frozen_weights.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <array>
#include <map>
#include <optional>
#include <utility>

#include "machine/freed_memory.h"
#include "machine/precision.h"
#include "nn/kernel/residual.h"
#include "nn/kernel/winograd.h"
#include "nn/torch.h"

namespace addp {
namespace {

// What torch's oneDNN operations take; they are not in its headers.
using Sizes = at::IntArrayRef;
using MaybeTensor = std::optional<Tensor>;
using Scalars = c10::List<std::optional<at::Scalar>>;
using MaybeText = std::optional<std::string_view>;

using PackLinear = Tensor(const Tensor&, std::optional<std::int64_t>);
using PackConvolution = Tensor(const Tensor&, Sizes, Sizes, Sizes, std::int64_t,
                               at::OptionalIntArrayRef);
using PackTransposed = Tensor(const Tensor&, Sizes, Sizes, Sizes, Sizes, std::int64_t,
                              at::OptionalIntArrayRef);
using RunLinear = Tensor(const Tensor&, const Tensor&, const MaybeTensor&, std::string_view,
                         Scalars, MaybeText);
using RunConvolution = Tensor(const Tensor&, const Tensor&, const MaybeTensor&, Sizes, Sizes, Sizes,
                              std::int64_t, std::string_view, Scalars, MaybeText);
using RunTransposed = Tensor(const Tensor&, const Tensor&, const MaybeTensor&, Sizes, Sizes, Sizes,
                             Sizes, std::int64_t, std::string_view, Scalars, MaybeText);

template <class Signature>
auto operation(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

// A weight or bias and the form that is computed with. The first is held so that no other can come
// to its address. A weight that lends its memory is empty, and is made of the form again in the
// end.
struct Kept {
  Tensor weight, form;
  bool lent = false;
};
// A weight may be asked for as it is, or spread for a doubled picture.
using Key = std::pair<const void*, bool>;

struct Store {
  int depth = 0;
  bool lend = false;
  std::map<Key, Kept> kept;
  std::size_t given_up = 0;  // bytes that were freed since memory was last returned
};
thread_local Store store;

// A hole of one weight is too small for the aligned form of the next that is as large, so that what
// is freed on the way from one to the other goes back to the system now and then.
void freed(std::size_t bytes) {
  constexpr std::size_t kWorthReturning = 16 << 20;
  store.given_up += bytes;
  if (store.given_up < kWorthReturning) return;
  return_freed_memory();
  store.given_up = 0;
}

void give_up(Tensor& weight) {
  const std::size_t bytes = weight.nbytes();
  weight.set_data(at::empty({0}, weight.options()));
  freed(bytes);
}

template <class Make>
Tensor kept_form(const Tensor& weight, bool doubled, const Make& make) {
  const Key key{weight.unsafeGetTensorImpl(), doubled};
  const auto found = store.kept.find(key);
  if (found != store.kept.end()) return found->second.form;
  Kept& kept = store.kept[key];
  kept = {weight, make(weight.detach())};
  kept.lent = store.lend && !doubled && kept.form.is_mkldnn() &&
              weight.scalar_type() == kept.form.scalar_type();
  if (kept.lent) give_up(kept.weight);
  return kept.form;
}

void forget_forms() {
  for (auto& [key, kept] : store.kept) {
    if (kept.lent) kept.weight.set_data(kept.form.to_dense());
    kept.form.reset();
    if (kept.lent) freed(kept.weight.nbytes());
  }
  store.kept.clear();
  if (std::exchange(store.given_up, 0) > 0) return_freed_memory();
}

// Elsewhere oneDNN's operations may not know bfloat16.
#if defined(__x86_64__)
constexpr bool kKnownProcessor = true;
#else
constexpr bool kKnownProcessor = false;
#endif

bool usable(const Tensor& x, const Tensor& weight) {
  if (!kKnownProcessor || x.numel() == 0) return false;
  if (store.depth == 0 || at::GradMode::is_enabled() || reference_arithmetic()) return false;
  if (!x.is_cpu() || !weight.is_cpu()) return false;
  if (weight.scalar_type() != torch::kFloat32 && weight.scalar_type() != torch::kBFloat16) {
    return false;
  }
  if (!at::globalContext().hasMKLDNN() || !at::globalContext().userEnabledMkldnn()) return false;
  const auto type = product_type(x);
  return type == torch::kFloat32 || (type == torch::kBFloat16 && has_bf16_instructions());
}

MaybeTensor cast_bias(const Tensor& bias, torch::ScalarType type) {
  if (!bias.defined()) return std::nullopt;
  if (bias.scalar_type() == type) return bias;
  return kept_form(bias, false, [&](const Tensor& b) { return b.to(type); });
}

Tensor channels_last(const Tensor& x, torch::ScalarType type) {
  return x.to(type).contiguous(torch::MemoryFormat::ChannelsLast);
}

Tensor laid_out_linear(const Tensor& x, const Tensor& weight, const Tensor& bias,
                       std::string_view after) {
  static const auto pack = operation<PackLinear>("mkldnn::_reorder_linear_weight");
  static const auto run = operation<RunLinear>("mkldnn::_linear_pointwise");
  const auto type = product_type(x);
  const Tensor packed = kept_form(weight, false, [&](const Tensor& w) {
    return pack.call(w.to(type).contiguous(), x.numel() / x.size(-1));
  });
  return run.call(x.to(type).contiguous(), packed, cast_bias(bias, type), after, Scalars(), "none");
}

// Along one side: what an input pixel, doubled, gives to the four outputs around it.
Tensor spread(const Tensor& weight, std::int64_t dim) {
  const auto w = weight.unbind(dim);
  return at::stack({w[2], w[1] + w[2], w[0] + w[1], w[0]}, dim);
}

Tensor doubling_weight(const Tensor& weight) {
  return spread(spread(weight.to(torch::kFloat32), 2), 3).transpose(0, 1);
}

}  // namespace

FrozenWeights::FrozenWeights(bool lend) {
  if (++store.depth == 1) store.lend = lend;
}

FrozenWeights::~FrozenWeights() {
  if (--store.depth == 0) forget_forms();
}

void spare_memory(const Tensor& x) {
  if (store.depth > 0 && store.lend && product_type(x) == torch::kFloat32) return_freed_memory();
}

Tensor linear_product(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (!usable(x, weight)) return at::linear(x, weight, bias);
  return laid_out_linear(x, weight, bias, "none");
}

Tensor linear_product_gelu(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (!usable(x, weight)) return gelu_dropout(at::linear(x, weight, bias), 0, nullptr);
  return laid_out_linear(x, weight, bias, "gelu");
}

Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, std::int64_t stride,
                   std::int64_t padding) {
  if (stride == 1 && padding == 1 && suits_winograd(x, weight)) {
    return winograd_convolution(x, weight, bias);
  }
  if (!usable(x, weight)) return at::conv2d(x, weight, bias, stride, padding);
  static const auto pack = operation<PackConvolution>("mkldnn::_reorder_convolution_weight");
  static const auto run = operation<RunConvolution>("mkldnn::_convolution_pointwise");
  const std::array<std::int64_t, 2> strides{stride, stride}, paddings{padding, padding}, one{1, 1};
  const auto type = product_type(x);
  const Tensor packed = kept_form(weight, false, [&](const Tensor& w) {
    return pack.call(w.to(type), paddings, strides, one, 1, x.sizes());
  });
  return run.call(channels_last(x, type), packed, cast_bias(bias, type), paddings, strides, one, 1,
                  "none", Scalars(), "none");
}

Tensor doubling_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const auto type = product_type(x);
  // Rounded before it is spread as well: the same whether the weight is kept in float32 or not.
  if (!usable(x, weight)) {
    return at::conv_transpose2d(x, doubling_weight(weight.to(type)), bias, /*stride=*/2,
                                /*padding=*/1);
  }
  static const auto pack =
      operation<PackTransposed>("mkldnn::_reorder_convolution_transpose_weight");
  static const auto run = operation<RunTransposed>("mkldnn::_convolution_transpose_pointwise");
  const std::array<std::int64_t, 2> zero{0, 0}, one{1, 1}, two{2, 2};
  const Tensor packed = kept_form(weight, true, [&](const Tensor& w) {
    return pack.call(doubling_weight(w.to(type)).to(type), one, zero, two, one, 1, x.sizes());
  });
  return run.call(channels_last(x, type), packed, cast_bias(bias, type), one, zero, two, one, 1,
                  "none", Scalars(), "none");
}

}  // namespace addp
