#include "model/load.h"

#include <cstring>

#include "base/error.h"
#include "base/file/sha256.h"
#include "checkpoint/format/tensor_cast.h"
#include "checkpoint/layout/key_report.h"
#include "checkpoint/layout/published.h"
#include "nn/torch.h"

namespace addp {
namespace {

struct TypePair {
  DType in_files;
  torch::ScalarType in_torch;
};
constexpr TypePair kTypes[] = {{DType::kBool, torch::kBool},   {DType::kU8, torch::kUInt8},
                               {DType::kI8, torch::kInt8},     {DType::kI16, torch::kInt16},
                               {DType::kI32, torch::kInt32},   {DType::kI64, torch::kInt64},
                               {DType::kF16, torch::kFloat16}, {DType::kBF16, torch::kBFloat16},
                               {DType::kF32, torch::kFloat32}, {DType::kF64, torch::kFloat64}};

torch::ScalarType torch_type(DType type) {
  for (const TypePair& pair : kTypes) {
    if (pair.in_files == type) return pair.in_torch;
  }
  throw DataError("tensors of type {} are not supported: convert the file to F32",
                  dtype_name(type));
}

DType file_type(torch::ScalarType type) {
  for (const TypePair& pair : kTypes) {
    if (pair.in_torch == type) return pair.in_files;
  }
  throw RuntimeError("tensors of type {} cannot be written", torch::toString(type));
}

std::vector<std::pair<std::string, Tensor>> named_state(const torch::nn::Module& network) {
  std::vector<std::pair<std::string, Tensor>> state;
  for (const auto& item : network.named_parameters()) state.emplace_back(item.key(), item.value());
  for (const auto& item : network.named_buffers()) state.emplace_back(item.key(), item.value());
  return state;
}

void require_finite(const std::string& name, const TensorView& view, const LoadRules& rules) {
  if (const std::uint64_t bad = count_non_finite(view); bad > 0) {
    throw DataError("{}: {} values of '{}' are NaN or infinite; take another checkpoint",
                    rules.source, bad, rules.prefix + name);
  }
}

}  // namespace

Tensor to_torch(const TensorView& view) {
  const Tensor tensor = torch::empty(view.shape, torch_type(view.dtype));
  if (view.is_contiguous()) {
    if (tensor.numel() > 0) std::memcpy(tensor.data_ptr(), view.bytes.data(), tensor.nbytes());
  } else {
    const Bytes bytes = view.contiguous_bytes();
    std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  }
  return tensor;
}

TensorView to_view(const Tensor& tensor) {
  const Tensor source = tensor.detach().cpu().contiguous();
  Bytes bytes(source.nbytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), source.data_ptr(), bytes.size());
  return make_tensor(file_type(source.scalar_type()), source.sizes().vec(), std::move(bytes));
}

std::string sha256_of(const Tensor& tensor) {
  const Tensor numbers = tensor.detach().cpu().contiguous();
  return sha256_hex({static_cast<const std::uint8_t*>(numbers.data_ptr()), numbers.nbytes()});
}

LoadReport load_strictly(torch::nn::Module& network, const TensorMap& tensors,
                         const LoadRules& rules) {
  torch::NoGradGuard no_grad;
  const TensorMap found = with_prefix_removed(tensors, rules.prefix);
  std::map<std::string, Tensor> targets;
  ShapeMap expected;
  for (auto& [name, target] : named_state(network)) {
    const std::string file_name = rules.file_name ? rules.file_name(name) : name;
    targets[file_name] = target;
    expected[file_name] = target.sizes().vec();
  }
  const KeyReport report =
      compare_keys(expected, found, {.allow_missing = {}, .ignore = rules.unused});
  report.require(rules.source);
  for (const auto& [name, target] : targets) require_finite(name, found.at(name), rules);
  for (auto& [name, target] : targets) target.copy_(to_torch(found.at(name)));
  return {.loaded = report.matched, .unused = report.ignored};
}

TensorMap state_of(const torch::nn::Module& network,
                   const std::function<std::string(const std::string&)>& file_name,
                   const std::string& prefix) {
  TensorMap tensors;
  for (const auto& [name, value] : named_state(network)) {
    tensors[prefix + (file_name ? file_name(name) : name)] = to_view(value);
  }
  return tensors;
}

Grid square_grid(std::int64_t length, const std::string& source) {
  const std::int64_t side = square_side(length - 1);
  if (side == 0) {
    throw DataError("{}: {} positions are not a square grid and a class position", source, length);
  }
  return {side, side};
}

}  // namespace addp
