// Memory that a kernel computes in, one for each thread.
#pragma once

#include <cstdint>
#include <vector>

namespace addp {

class Scratch {
 public:
  // Aligned, with the contents undefined; the one before is gone.
  std::uint32_t* words(std::int64_t count);
  float* floats(std::int64_t count) { return reinterpret_cast<float*>(words(count)); }

 private:
  std::vector<std::uint32_t> memory_;
};

// This thread's own.
Scratch& own_scratch();

}  // namespace addp
