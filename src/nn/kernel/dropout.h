// Dropout and stochastic depth whose randomness is a parameter. A forward pass takes a
// `DropoutKeys*`; without one it is an evaluation pass, and nothing is dropped.
#pragma once

#include "base/random.h"
#include "nn/types.h"

namespace addp {

// Gives each dropout of a forward pass a key of its own. Which elements a dropout zeroes is a hash
// of key and position (nn/kernel/simd/row_kernels.h), whatever the number of threads.
//
// A process that computes samples first .. first + count - 1 of a batch drops what one process with
// the whole batch would: positions are those of the whole batch. The rows of whatever passes
// through dropout must therefore belong to the samples in order, as many to each.
class DropoutKeys {
 public:
  // `count` 0: the batch is here as a whole.
  explicit DropoutKeys(RandomStream stream, std::int64_t first = 0, std::int64_t count = 0)
      : stream_(stream), first_(first), count_(count) {}

  std::uint64_t next_key() { return stream_.next_u64(); }
  std::int64_t first() const { return first_; }
  // The position of the first of `elements` that this process computes.
  std::int64_t position_of(std::int64_t elements) const {
    return count_ == 0 ? 0 : first_ * (elements / count_);
  }

 private:
  RandomStream stream_;
  std::int64_t first_, count_;
};

// Zeroes elements with probability `rate` and scales the rest so that the mean stays.
Tensor dropout(const Tensor& x, double rate, DropoutKeys* keys);
// The same for whole samples (the first dimension): "stochastic depth" of a residual branch.
Tensor drop_path(const Tensor& branch, double rate, DropoutKeys* keys);

}  // namespace addp
