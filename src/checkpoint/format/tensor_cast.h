// Floating-point types of stored tensors: conversion and a look for values that are none.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "checkpoint/format/tensor.h"

namespace addp {

float half_to_float(std::uint16_t bits);
// To nearest, ties to even; what lies beyond 65504 becomes infinite.
std::uint16_t float_to_half(float value);
float bfloat16_to_float(std::uint16_t bits);
std::uint16_t float_to_bfloat16(float value);  // to nearest, ties to even

// The tensor in another floating-point type; integer tensors and equal types are returned
// as they are.
TensorView cast_floating(const TensorView& tensor, DType type);

// The type that `tensor` has after cast_floating to `type`, where one is given.
DType type_after_cast(const TensorView& tensor, std::optional<DType> type);
// Calls `use(ByteSpan)` with the row-major bytes in that type: how writers convert one tensor
// at a time.
template <class Use>
void with_cast_bytes(const TensorView& tensor, std::optional<DType> type, Use&& use) {
  with_contiguous_bytes(type ? cast_floating(tensor, *type) : tensor, std::forward<Use>(use));
}

// How many elements are NaN or infinite; 0 for integer types.
std::uint64_t count_non_finite(const TensorView& tensor);

}  // namespace addp
