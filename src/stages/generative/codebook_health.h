// The use of a codebook while it is trained, and the rescue of codes that nothing chooses any more.
#pragma once

#include "base/random.h"
#include "checkpoint/format/tensor.h"
#include "nn/types.h"
#include "tokenizer/codebook_use.h"

namespace addp {

// Counts choices over a window of steps.
class CodebookHealth {
 public:
  explicit CodebookHealth(std::int64_t codes);

  void add(const Tensor& ids);
  CodebookUse use() const { return codebook_use(counts_); }
  // Replaces the codes that were not chosen in the window by features ([N, D]) drawn at random, and
  // starts a new window. Returns how many were replaced.
  std::int64_t restart(const Tensor& codes, const Tensor& features, RandomStream stream);

  Tensor counts() const { return counts_; }
  void set_counts(const Tensor& counts);

 private:
  Tensor counts_;  // [K], int64
};

}  // namespace addp
