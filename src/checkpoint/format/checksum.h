// Whether tensors are still those that were written.
#pragma once

#include "checkpoint/format/tensor.h"

namespace addp {

// CRC-32 over names and numbers.
std::uint32_t checksum_of(const TensorMap& tensors);

}  // namespace addp
