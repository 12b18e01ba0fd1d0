// Floating-point types of stored tensors: conversion and a look for values that are none.
#pragma once

#include <cstdint>

#include "checkpoint/tensor.h"

namespace addp {

float half_to_float(std::uint16_t bits);
std::uint16_t float_to_half(
    float value);  // to nearest, ties to even; beyond 65504 becomes infinite
float bfloat16_to_float(std::uint16_t bits);
std::uint16_t float_to_bfloat16(float value);  // to nearest, ties to even

// The tensor in another floating-point type; integer tensors and equal types are returned as they
// are.
TensorView cast_floating(const TensorView& tensor, DType type);

// How many elements are NaN or infinite; 0 for integer types.
std::uint64_t count_non_finite(const TensorView& tensor);

}  // namespace addp
