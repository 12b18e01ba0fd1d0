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

torch::ScalarType torch_type(DType type) {
  switch (type) {
    case DType::kBool:
      return torch::kBool;
    case DType::kU8:
      return torch::kUInt8;
    case DType::kI8:
      return torch::kInt8;
    case DType::kI16:
      return torch::kInt16;
    case DType::kI32:
      return torch::kInt32;
    case DType::kI64:
      return torch::kInt64;
    case DType::kF16:
      return torch::kFloat16;
    case DType::kBF16:
      return torch::kBFloat16;
    case DType::kF32:
      return torch::kFloat32;
    case DType::kF64:
      return torch::kFloat64;
    case DType::kU16:
    case DType::kU32:
    case DType::kU64:
      break;
  }
  throw DataError("tensors of type {} are not supported: convert the file to F32",
                  dtype_name(type));
}

DType file_type(torch::ScalarType type) {
  switch (type) {
    case torch::kBool:
      return DType::kBool;
    case torch::kUInt8:
      return DType::kU8;
    case torch::kInt8:
      return DType::kI8;
    case torch::kInt16:
      return DType::kI16;
    case torch::kInt32:
      return DType::kI32;
    case torch::kInt64:
      return DType::kI64;
    case torch::kFloat16:
      return DType::kF16;
    case torch::kBFloat16:
      return DType::kBF16;
    case torch::kFloat32:
      return DType::kF32;
    case torch::kFloat64:
      return DType::kF64;
    default:
      break;
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
