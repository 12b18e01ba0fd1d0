// The use of a codebook while it is trained, and the rescue of codes that nothing chooses any more.
#pragma once

#include <functional>
#include <vector>

#include "base/random.h"
#include "checkpoint/format/tensor.h"
#include "nn/types.h"
#include "tokenizer/codebook_use.h"

namespace addp {

// Counts choices over a window of steps.
class CodebookHealth {
 public:
  explicit CodebookHealth(std::int64_t codes);

  void add(const Tensor& counts) { counts_ += counts; }  // [K], how often each was chosen
  CodebookUse use() const { return codebook_use(counts_); }
  // Replaces the codes that were not chosen in the window by features drawn at random, and starts a
  // new window. `take` gives rows [n, D] of the `features` that there are. Returns how many were
  // replaced.
  std::int64_t restart(const Tensor& codes, std::int64_t features,
                       const std::function<Tensor(const std::vector<std::int64_t>&)>& take,
                       RandomStream stream);

  Tensor counts() const { return counts_; }
  void set_counts(const Tensor& counts);

 private:
  Tensor counts_;  // [K], int64
};

}  // namespace addp
