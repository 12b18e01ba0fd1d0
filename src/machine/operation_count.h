// How many floating-point operations a piece of work asks for, as torch sees it come by: what a
// measured time is compared with.
#pragma once

#include <cstdint>

namespace addp {

// Counts from its construction on, on this thread. One at a time.
class OperationCount {
 public:
  OperationCount();
  ~OperationCount();
  OperationCount(const OperationCount&) = delete;
  OperationCount& operator=(const OperationCount&) = delete;

  double products() const;      // of matrix products, those of attention among them
  double convolutions() const;  // a multiplication and an addition are two

 private:
  std::uint64_t callback_;
};

}  // namespace addp
