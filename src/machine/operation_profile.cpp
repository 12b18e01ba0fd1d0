#include "machine/operation_profile.h"

#include <ATen/record_function.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string_view>

#include "nn/torch.h"
#include "nn/types.h"

namespace addp {
namespace {

using Clock = std::chrono::steady_clock;
using Inputs = c10::ArrayRef<const c10::IValue>;

// An operation that is running.
struct Frame : at::ObserverContext {
  Frame* caller = nullptr;
  std::string name, kind;
  bool begins_kind = false;  // its caller is of another kind
  Clock::time_point start;
  double in_calls = 0;  // seconds that belong to what it called
};

struct Watch {
  double products = 0, convolutions = 0;
  std::map<std::string, OperationRow> rows;
  Frame* current = nullptr;
};
thread_local Watch watch;

// torch's operations with weights in oneDNN's own layout (nn/kernel/frozen_weights.h).
constexpr std::string_view kPacked = "mkldnn::_convolution_pointwise";
constexpr std::string_view kPackedTransposed = "mkldnn::_convolution_transpose_pointwise";
constexpr std::string_view kPackedLinear = "mkldnn::_linear_pointwise";
constexpr std::string_view kOwnAttention = "addp::attention";      // nn/kernel/fused_attention.h
constexpr std::string_view kOwnConvolution = "addp::convolution";  // nn/kernel/winograd.h

double size_of(const c10::IValue& tensor, std::int64_t dim) {
  return static_cast<double>(tensor.toTensor().size(dim));
}

// Every weight meets every position of the result, or of the input where it is transposed. Stride
// and padding are those of the inputs with these numbers.
double forward_work(Inputs inputs, std::size_t stride_at, std::size_t padding_at, bool transposed) {
  const Tensor x = inputs[0].toTensor(), weight = inputs[1].toTensor();
  const auto stride = inputs[stride_at].toIntVector(), padding = inputs[padding_at].toIntVector();
  double positions = static_cast<double>(x.size(0));
  for (std::int64_t dim = 2; dim < x.dim(); ++dim) {
    const auto axis = static_cast<std::size_t>(dim - 2);
    const std::int64_t step = stride[axis % stride.size()], pad = padding[axis % padding.size()];
    positions *= static_cast<double>(
        transposed ? x.size(dim) : (x.size(dim) + 2 * pad - weight.size(dim)) / step + 1);
  }
  return 2 * positions * static_cast<double>(weight.numel());
}

// Of aten::convolution_backward(grad, input, weight, ...): each gradient costs what the forward
// pass did.
double backward_work(Inputs inputs) {
  const Tensor outer = inputs[0].toTensor(), x = inputs[1].toTensor();
  const Tensor weight = inputs[2].toTensor();
  const bool transposed = inputs[7].toBool();
  const Tensor& positions = transposed ? x : outer;
  const std::int64_t places = positions.numel() / positions.size(1);
  const double once = 2 * static_cast<double>(places) * static_cast<double>(weight.numel());
  const auto wanted = inputs[10].toBoolList();
  return once * ((wanted[0] ? 1 : 0) + (wanted[1] ? 1 : 0));
}

// Of 2x2 results in 16 products per pair of channels; inputs: maps, weights, results.
double winograd_work(Inputs inputs) {
  const Tensor maps = inputs[0].toTensor();
  const double tiles = static_cast<double>(maps.size(0)) *
                       static_cast<double>((maps.size(2) + 1) / 2) *
                       static_cast<double>((maps.size(3) + 1) / 2);
  return 2 * tiles * 16.0 / 9.0 * static_cast<double>(inputs[1].toTensor().numel());
}

double convolution_work(std::string_view name, Inputs inputs) {
  if (name == "aten::convolution") return forward_work(inputs, 3, 4, inputs[6].toBool());
  if (name == "aten::convolution_backward") return backward_work(inputs);
  if (name.starts_with(kOwnConvolution)) return winograd_work(inputs);
  if (name == kPacked) return forward_work(inputs, 4, 3, false);
  return name == kPackedTransposed ? forward_work(inputs, 5, 3, true) : 0;
}

double product_work(std::string_view name, Inputs inputs) {
  const auto product = [&](std::size_t left, std::size_t right) {
    return 2 * static_cast<double>(inputs[left].toTensor().numel()) * size_of(inputs[right], -1);
  };
  if (name == "aten::mm" || name == "aten::bmm") return product(0, 1);
  if (name == kPackedLinear) {
    return 2 * static_cast<double>(inputs[0].toTensor().numel()) * size_of(inputs[1], 0);
  }
  if (name == "aten::addmm" || name == "aten::baddbmm") return product(1, 2);
  if (name.starts_with(kOwnAttention)) {  // projected, out
    return (name.ends_with("backward") ? 10 : 4) *
           static_cast<double>(inputs[1].toTensor().numel()) * size_of(inputs[1], 1);
  }
  if (name.starts_with("aten::_scaled_dot_product_") && !name.ends_with("_math")) {
    const bool backward = name.ends_with("_backward");
    // Scores and their sums of values; backward five products of that size instead of two.
    const std::size_t query = backward ? 1 : 0;
    return (backward ? 10 : 4) * static_cast<double>(inputs[query].toTensor().numel()) *
           size_of(inputs[query + 1], 2);
  }
  return 0;
}

// The kind that an operation stands for; empty: that of its caller.
std::string kind_of(std::string_view name, Inputs inputs) {
  const auto kernel = [&](std::size_t weight, const char* text) {
    const Tensor w = inputs[weight].toTensor();
    return w.dim() == 4 ? fmt::format("{} {}x{}", text, w.size(2), w.size(3)) : std::string(text);
  };
  if (name == "aten::convolution" || name == kPacked || name == kPackedTransposed) {
    return kernel(1, "convolution");
  }
  if (name == "aten::convolution_backward") return kernel(2, "convolution backward");
  constexpr std::array<std::pair<std::string_view, const char*>, 17> kPrefixes = {
      {{"aten::_to_copy", "cast"},
       {"aten::copy_", "copy"},
       {"aten::clone", "copy"},
       {"aten::cat", "copy"},
       {"aten::_scaled_dot_product", "attention"},
       {"aten::linear", "product"},
       {kPackedLinear, "product"},
       {"mkldnn::_reorder", "weights laid out"},
       {"aten::mm", "product"},
       {"aten::bmm", "product"},
       {"aten::addmm", "product"},
       {"aten::baddbmm", "product"},
       {"aten::matmul", "product"},
       {"aten::_foreach", "optimizer"},
       {"aten::_fused_adam", "optimizer"},
       {"aten::native_layer_norm", "layer norm"},
       {"aten::native_group_norm", "group norm"}}};
  for (const auto& [prefix, kind] : kPrefixes) {
    if (name.starts_with(prefix)) return kind;
  }
  return name.starts_with("addp::") ? std::string(name.substr(6)) : std::string();
}

template <class Values>
double bytes_of(const Values& values) {
  double bytes = 0;
  for (const c10::IValue& value : values) {
    if (value.isTensor() && value.toTensor().defined()) {
      bytes += static_cast<double>(value.toTensor().nbytes());
    }
  }
  return bytes;
}

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& call) {
  const std::string_view name = call.name();
  const Inputs inputs = call.inputs();
  auto frame = std::make_unique<Frame>();
  frame->caller = watch.current;
  frame->name = name;
  frame->kind = kind_of(name, inputs);
  if (frame->kind.empty()) frame->kind = frame->caller ? frame->caller->kind : std::string(name);
  frame->begins_kind = !frame->caller || frame->caller->kind != frame->kind;
  OperationRow& row = watch.rows[frame->kind];
  // Autocast shows an operation twice: as it was called, and within it with its inputs cast.
  if (!frame->caller || frame->caller->name != name) {
    const double products = product_work(name, inputs);
    const double convolutions = convolution_work(name, inputs);
    watch.products += products;
    watch.convolutions += convolutions;
    row.flop += products + convolutions;
  }
  if (frame->begins_kind) {
    ++row.calls;
    row.bytes += bytes_of(inputs);
  }
  watch.current = frame.get();
  frame->start = Clock::now();
  return frame;
}

void end(const at::RecordFunction& call, at::ObserverContext* context) {
  auto* frame = static_cast<Frame*>(context);
  const double seconds = std::chrono::duration<double>(Clock::now() - frame->start).count();
  OperationRow& row = watch.rows[frame->kind];
  row.seconds += seconds - frame->in_calls;
  if (frame->begins_kind) row.bytes += bytes_of(call.outputs());
  if (frame->caller) frame->caller->in_calls += seconds;
  watch.current = frame->caller;
}

}  // namespace

OperationProfile::OperationProfile()
    : callback_(at::addThreadLocalCallback(
          at::RecordFunctionCallback(begin, end)
              .needsInputs(true)
              .needsOutputs(true)
              .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}))) {
  watch = {};
}

OperationProfile::~OperationProfile() { at::removeCallback(callback_); }

double OperationProfile::products() const { return watch.products; }
double OperationProfile::convolutions() const { return watch.convolutions; }

std::vector<OperationRow> OperationProfile::rows() const {
  std::vector<OperationRow> rows;
  for (const auto& [kind, row] : watch.rows) {
    rows.push_back(row);
    rows.back().kind = kind;
  }
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return rows;
}

}  // namespace addp
