// How a tokenizer's codebook is used.
#pragma once

#include <cstdint>

#include "nn/types.h"

namespace addp {

struct CodebookUse {
  std::int64_t codes = 0;
  std::int64_t used = 0;  // chosen at least once
  double perplexity = 0;  // exp of the entropy of the choices; `codes` where all are alike
  double share() const { return static_cast<double>(used) / static_cast<double>(codes); }
};

CodebookUse codebook_use(const Tensor& counts);  // [K] -> figures

}  // namespace addp
