#include "checkpoint/format/tensor.h"

#include <fmt/ranges.h>

#include <array>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace addp {
namespace {

struct DTypeEntry {
  DType type;
  std::string_view name;
  std::size_t size;
};

constexpr std::array<DTypeEntry, 13> kTypes{{{DType::kBool, "BOOL", 1},
                                             {DType::kU8, "U8", 1},
                                             {DType::kI8, "I8", 1},
                                             {DType::kI16, "I16", 2},
                                             {DType::kU16, "U16", 2},
                                             {DType::kI32, "I32", 4},
                                             {DType::kU32, "U32", 4},
                                             {DType::kI64, "I64", 8},
                                             {DType::kU64, "U64", 8},
                                             {DType::kF16, "F16", 2},
                                             {DType::kBF16, "BF16", 2},
                                             {DType::kF32, "F32", 4},
                                             {DType::kF64, "F64", 8}}};

const DTypeEntry& entry(DType type) { return kTypes[static_cast<std::size_t>(type)]; }

// Copies one dimension after the other; the innermost loop is over single elements.
void gather(const TensorView& tensor, std::size_t dimension, std::int64_t offset,
            std::uint8_t*& out) {
  const std::size_t size = dtype_size(tensor.dtype);
  if (dimension == tensor.shape.size()) {
    std::memcpy(out, tensor.bytes.data() + static_cast<std::size_t>(offset) * size, size);
    out += size;
    return;
  }
  for (std::int64_t i = 0; i < tensor.shape[dimension]; ++i) {
    gather(tensor, dimension + 1, offset + i * tensor.strides[dimension], out);
  }
}

}  // namespace

std::size_t dtype_size(DType type) { return entry(type).size; }
std::string_view dtype_name(DType type) { return entry(type).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeEntry& known : kTypes) {
    if (known.name == name) return known.type;
  }
  return std::nullopt;
}

bool is_floating(DType type) {
  return type == DType::kF16 || type == DType::kBF16 || type == DType::kF32 || type == DType::kF64;
}

std::int64_t TensorView::numel() const {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

std::uint64_t TensorView::nbytes() const {
  return static_cast<std::uint64_t>(numel()) * dtype_size(dtype);
}

bool TensorView::is_contiguous() const {
  if (numel() == 0) return true;
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

Bytes TensorView::contiguous_bytes() const {
  if (is_contiguous()) {
    return Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(nbytes()));
  }
  Bytes gathered(nbytes());
  std::uint8_t* out = gathered.data();
  gather(*this, 0, 0, out);
  return gathered;
}

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

std::optional<std::int64_t> checked_numel(const std::vector<std::int64_t>& shape) {
  // The product without the zeros is bounded too: strides are made of it.
  std::int64_t product = 1;
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) return std::nullopt;
    empty = empty || size == 0;
    if (size > 0 && __builtin_mul_overflow(product, size, &product)) return std::nullopt;
    if (product > (std::int64_t{1} << 62)) return std::nullopt;
  }
  return empty ? 0 : product;
}

TensorView make_tensor(DType type, std::vector<std::int64_t> shape, Bytes bytes) {
  const auto count = checked_numel(shape);
  if (!count || static_cast<std::uint64_t>(*count) != bytes.size() / dtype_size(type) ||
      bytes.size() % dtype_size(type) != 0) {
    throw UsageError("a tensor of shape {} and type {} cannot have {} bytes", shape_text(shape),
                     dtype_name(type), bytes.size());
  }
  TensorView tensor;
  tensor.dtype = type;
  tensor.strides = contiguous_strides(shape);
  tensor.shape = std::move(shape);
  auto owner = std::make_shared<const Bytes>(std::move(bytes));
  tensor.bytes = ByteSpan(*owner);
  tensor.owner = std::move(owner);
  return tensor;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace addp
