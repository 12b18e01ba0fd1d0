// What stands between the products of a transformer block, each in one pass over memory: the
// residual sum with dropout, layer norm, GELU with dropout. Where products are bfloat16
// (machine/precision.h), what enters them is written so; the residual stream stays float32.
#pragma once

#include "nn/kernel/dropout.h"

namespace addp {

struct NormWeights {
  Tensor weight, bias;
  double eps = 1e-6;
};

// layer_norm(x), in the type of products.
Tensor norm_for_product(const Tensor& x, const NormWeights& norm);

struct ResidualNorm {
  Tensor sum;     // x + dropout(branch)
  Tensor normed;  // layer_norm(sum), in the type of products
};
ResidualNorm add_and_norm(const Tensor& x, const Tensor& branch, double rate, DropoutKeys* keys,
                          const NormWeights& norm);

// x + dropout(branch)
Tensor add_branch(const Tensor& x, const Tensor& branch, double rate, DropoutKeys* keys);

// dropout(gelu(x))
Tensor gelu_dropout(const Tensor& x, double rate, DropoutKeys* keys);

}  // namespace addp
