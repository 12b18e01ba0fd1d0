// How the networks use this machine: its processors, its memory, its accelerator. Commands that
// compute call use_machine() first.
#pragma once

#include <torch/types.h>

#include <memory>
#include <string>

#include "machine/compute_options.h"

namespace addp {

// Threads of this process's computations, and compute_device(). Freed memory is kept for the next
// tensors instead of being given back to the system: taking and clearing pages anew at every step
// was measured to cost a ResNet's training a fifth of its time.
void use_machine(const ComputeOptions& options, int local_rank = 0);

// What --device means here; a UsageError for what there is not. Of several processes on a machine,
// each takes the CUDA device of its number, `local_rank`.
torch::Device find_device(const std::string& name, int local_rank = 0);

// Where networks and their inputs belong: the CPU until use_machine() says otherwise. Functions
// that compute follow their arguments; only what makes those asks for it.
torch::Device compute_device();
void set_compute_device(torch::Device device);

// The network, moved to compute_device(). To be called before an optimizer takes its parameters.
template <class Network>
std::shared_ptr<Network> on_device(std::shared_ptr<Network> network) {
  network->to(compute_device());
  return network;
}

}  // namespace addp
