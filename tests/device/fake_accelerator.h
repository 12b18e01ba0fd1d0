// A device that is not the CPU, for machines without one: a backend that libtorch leaves to others
// (HPU) with memory of its own and the CPU's arithmetic. Like a real accelerator it refuses to
// combine its tensors with those of the CPU, so that code which forgets to move something fails
// here, too; not so code that reads its memory by a pointer, and what is special to CUDA.
#pragma once

#include <torch/types.h>

namespace addp::testing {

// Networks and their inputs belong to the device for the life of this object.
class FakeAccelerator {
 public:
  FakeAccelerator();
  ~FakeAccelerator();
  FakeAccelerator(const FakeAccelerator&) = delete;
  FakeAccelerator& operator=(const FakeAccelerator&) = delete;

  static torch::Device device() { return {torch::kHPU, 0}; }
  // Operations that ran on it so far.
  static std::int64_t operations();
};

}  // namespace addp::testing
