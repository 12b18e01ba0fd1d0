// Tensors of float32 or bfloat16 as the arrays that the kernels of this folder take.
#pragma once

#include "nn/kernel/simd/bf16.h"
#include "nn/types.h"

namespace addp {

inline bool has_known_elements(const Tensor& x) {
  return x.scalar_type() == torch::kFloat32 || x.scalar_type() == torch::kBFloat16;
}

// Calls work(Element{}) with the kind of element that x has.
template <class Work>
void with_elements(const Tensor& x, const Work& work) {
  x.scalar_type() == torch::kBFloat16 ? work(Bf16{}) : work(float{});
}

template <class Element>
Element* elements(const Tensor& x) {
  return static_cast<Element*>(x.data_ptr());
}

}  // namespace addp
