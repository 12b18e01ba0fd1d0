// Any bytes as a safetensors file: a DataError or tensors that lie inside.
#include <cstdint>
#include <numeric>

#include "base/error.h"
#include "checkpoint/format/safetensors.h"
#include "checkpoint/layout/checkpoint.h"
#include "checkpoint/layout/recognise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace addp;
  try {
    Safetensors file = parse_safetensors({data, size}, nullptr, "fuzz");
    std::uint64_t sum = 0;
    for (const auto& [name, tensor] : file.tensors) {
      const Bytes bytes = tensor.contiguous_bytes();
      sum += std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
    }
    Checkpoint checkpoint;
    checkpoint.path = sum == 1 ? "fuzz-one" : "fuzz";
    checkpoint.tensors = std::move(file.tensors);
    checkpoint.metadata = file.metadata;
    if (recognise(checkpoint).to_json().dump().empty()) return 1;
  } catch (const DataError&) {
  }
  return 0;
}
