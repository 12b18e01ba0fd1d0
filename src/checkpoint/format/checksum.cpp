#include "checkpoint/format/checksum.h"

#include <zlib.h>

namespace addp {

std::uint32_t checksum_of(const TensorMap& tensors) {
  uLong sum = 0;
  for (const auto& [name, tensor] : tensors) {
    sum = ::crc32_z(sum, as_byte_span(name).data(), name.size());
    with_contiguous_bytes(
        tensor, [&](ByteSpan bytes) { sum = ::crc32_z(sum, bytes.data(), bytes.size()); });
  }
  return static_cast<std::uint32_t>(sum);
}

}  // namespace addp
