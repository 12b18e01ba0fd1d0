// A dropout as the kernels of this folder take it: which elements it zeroes is a hash of `key` and
// the element's index. The others are scaled so that the mean stays.
#pragma once

#include <cstdint>

namespace addp {

struct Dropping {
  std::uint64_t key = 0;
  double rate = 0;            // 0: everything is kept
  std::int64_t position = 0;  // of the first element here among all that the key decides on
};

}  // namespace addp
