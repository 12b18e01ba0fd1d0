#include "checkpoint/format/tensor_cast.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace addp {
namespace {

template <class T>
T load(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

double read_element(DType type, const std::uint8_t* from) {
  switch (type) {
    case DType::kF16:
      return half_to_float(load<std::uint16_t>(from));
    case DType::kBF16:
      return bfloat16_to_float(load<std::uint16_t>(from));
    case DType::kF32:
      return load<float>(from);
    default:
      return load<double>(from);
  }
}

void write_element(DType type, double value, std::uint8_t* to) {
  const auto single = static_cast<float>(value);
  if (type == DType::kF64) {
    std::memcpy(to, &value, 8);
  } else if (type == DType::kF32) {
    std::memcpy(to, &single, 4);
  } else {
    const std::uint16_t bits =
        type == DType::kF16 ? float_to_half(single) : float_to_bfloat16(single);
    std::memcpy(to, &bits, 2);
  }
}

// An exponent of all ones marks infinities and NaN in every IEEE format.
template <class Word>
std::uint64_t count_exponent(ByteSpan bytes, Word mask) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i + sizeof(Word) <= bytes.size(); i += sizeof(Word)) {
    count += (load<Word>(bytes.data() + i) & mask) == mask;
  }
  return count;
}

std::uint64_t not_finite(DType type, ByteSpan bytes) {
  switch (type) {
    case DType::kF16:
      return count_exponent<std::uint16_t>(bytes, 0x7c00);
    case DType::kBF16:
      return count_exponent<std::uint16_t>(bytes, 0x7f80);
    case DType::kF32:
      return count_exponent<std::uint32_t>(bytes, 0x7f800000);
    case DType::kF64:
      return count_exponent<std::uint64_t>(bytes, 0x7ff0000000000000);
    default:
      return 0;
  }
}

}  // namespace

float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t(bits & 0x8000) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1f, fraction = bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | (fraction << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float small = std::ldexp(static_cast<float>(fraction), -24);  // subnormal or zero
  return sign != 0 ? -small : small;
}

std::uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000)
    return sign | 0x7c00;  // from 65520 on, the halfway point, to infinity
  if (magnitude < 0x38800000) {
    // Below 2^-14 halves are multiples of 2^-24; nearbyint rounds ties to even.
    const float steps = std::nearbyint(std::ldexp(std::bit_cast<float>(magnitude), 24));
    return sign | static_cast<std::uint16_t>(steps);
  }
  const std::uint32_t odd = (magnitude >> 13) & 1;
  return sign | static_cast<std::uint16_t>((magnitude - 0x38000000 + 0xfff + odd) >> 13);
}

float bfloat16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t(bits) << 16);
}

std::uint16_t float_to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

TensorView cast_floating(const TensorView& tensor, DType type) {
  if (!is_floating(tensor.dtype) || tensor.dtype == type) return tensor;
  const std::size_t from = dtype_size(tensor.dtype), to = dtype_size(type);
  Bytes out(static_cast<std::size_t>(tensor.numel()) * to);
  with_contiguous_bytes(tensor, [&](ByteSpan bytes) {
    for (std::size_t i = 0; i * from < bytes.size(); ++i) {
      write_element(type, read_element(tensor.dtype, bytes.data() + i * from), out.data() + i * to);
    }
  });
  return make_tensor(type, tensor.shape, std::move(out));
}

DType type_after_cast(const TensorView& tensor, std::optional<DType> type) {
  return type && is_floating(tensor.dtype) ? *type : tensor.dtype;
}

std::uint64_t count_non_finite(const TensorView& tensor) {
  std::uint64_t count = 0;
  with_contiguous_bytes(tensor, [&](ByteSpan bytes) { count = not_finite(tensor.dtype, bytes); });
  return count;
}

}  // namespace addp
