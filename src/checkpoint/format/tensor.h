// A tensor as it lies in a file: type, shape, strides and bytes. No libtorch here, so that the
// readers of foreign bytes can be fuzzed alone and `addp doctor` starts at once; model/load.h makes
// torch tensors of them.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/file_io.h"

namespace addp {

static_assert(std::endian::native == std::endian::little,
              "checkpoint files hold little-endian numbers and are mapped as they are");

enum class DType { kBool, kU8, kI8, kI16, kU16, kI32, kU32, kI64, kU64, kF16, kBF16, kF32, kF64 };

std::size_t dtype_size(DType type);
std::string_view dtype_name(DType type);  // the safetensors spelling: "F32", "BF16", ...
std::optional<DType> dtype_from_name(std::string_view name);  // the same spelling
bool is_floating(DType type);

struct TensorView {
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // in elements
  // The storage from this tensor's first element on. Every element that shape and strides reach was
  // checked to lie inside. It need not be aligned: copy out with memcpy.
  ByteSpan bytes;
  // Keeps `bytes` alive (a mapped file, a buffer).
  std::shared_ptr<const void> owner;

  std::int64_t numel() const;
  std::uint64_t nbytes() const;  // of the elements, without gaps
  bool is_contiguous() const;
  // The elements in row-major order, gathered if the tensor is not contiguous.
  Bytes contiguous_bytes() const;
};

// A sorted map, so that reports and written files do not depend on the order of insertion.
using TensorMap = std::map<std::string, TensorView>;

// The strides of a row-major tensor.
std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& shape);
// The product of the sizes; nothing if a size is negative or the product exceeds 2^62.
std::optional<std::int64_t> checked_numel(const std::vector<std::int64_t>& shape);

// A contiguous tensor over bytes that it owns.
TensorView make_tensor(DType type, std::vector<std::int64_t> shape, Bytes bytes);

// Calls `use(ByteSpan)` with the row-major bytes, copying only where the tensor is not contiguous.
template <class Use>
void with_contiguous_bytes(const TensorView& tensor, Use&& use) {
  if (tensor.is_contiguous()) {
    use(tensor.bytes.first(tensor.nbytes()));
  } else {
    const Bytes gathered = tensor.contiguous_bytes();
    use(ByteSpan(gathered));
  }
}

std::string shape_text(const std::vector<std::int64_t>& shape);  // "[64, 3, 16, 16]"

}  // namespace addp
