// Dropout and stochastic depth whose randomness is a parameter. A forward pass takes a `Noise*`;
// without one it is an evaluation pass, and nothing is dropped.
#pragma once

#include <ATen/core/Generator.h>

#include "base/random.h"
#include "nn/types.h"

namespace addp {

class Noise {
 public:
  explicit Noise(RandomStream stream);

  // Ones and zeros, each one with probability `keep`, in the type of `like`.
  Tensor bernoulli(at::IntArrayRef shape, double keep, const Tensor& like);

 private:
  at::Generator generator_;  // seeded from the stream, never torch's default one
};

// Zeroes elements with probability `rate` and scales the rest so that the mean stays.
Tensor dropout(const Tensor& x, double rate, Noise* noise);
// The same for whole samples (the first dimension): "stochastic depth" of a residual branch.
Tensor drop_path(const Tensor& branch, double rate, Noise* noise);

}  // namespace addp
