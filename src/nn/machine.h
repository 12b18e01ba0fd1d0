// How the networks use this machine's processors and memory; commands that compute call it first.
#pragma once

#include <cstdint>

namespace addp {

// `threads` for the products and convolutions of a process, 0 for as many as there are. Freed
// memory is kept for the next tensors instead of being given back to the system: taking and
// clearing pages anew at every step was measured to cost a ResNet's training a fifth of its time.
void use_machine(std::int64_t threads);

}  // namespace addp
