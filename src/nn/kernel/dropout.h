// Dropout and stochastic depth whose randomness is a parameter. A forward pass takes a
// `DropoutKeys*`; without one it is an evaluation pass, and nothing is dropped.
#pragma once

#include "base/random.h"
#include "nn/types.h"

namespace addp {

// Gives each dropout of a forward pass a key of its own. Which elements a dropout zeroes is a hash
// of key and position (nn/kernel/row_kernels.h), whatever the device and the number of threads.
class DropoutKeys {
 public:
  explicit DropoutKeys(RandomStream stream) : stream_(stream) {}

  std::uint64_t next_key() { return stream_.next_u64(); }

 private:
  RandomStream stream_;
};

// Zeroes elements with probability `rate` and scales the rest so that the mean stays.
Tensor dropout(const Tensor& x, double rate, DropoutKeys* keys);
// The same for whole samples (the first dimension): "stochastic depth" of a residual branch.
Tensor drop_path(const Tensor& branch, double rate, DropoutKeys* keys);

}  // namespace addp
