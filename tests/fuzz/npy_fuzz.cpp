// Any bytes as NumPy's .npy and .npz: a DataError or arrays that lie inside.
#include <cstdint>
#include <numeric>

#include "base/error.h"
#include "checkpoint/format/npy.h"

namespace {

std::uint64_t sum_of(const addp::TensorView& tensor) {
  const addp::Bytes bytes = tensor.contiguous_bytes();
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace addp;
  volatile std::uint64_t sum = 0;  // every byte is read
  try {
    sum = sum_of(parse_npy({data, size}, nullptr, "fuzz.npy"));
  } catch (const DataError&) {
  }
  try {
    for (const auto& [name, tensor] : parse_npz({data, size}, nullptr, "fuzz.npz")) {
      sum = sum + sum_of(tensor);
    }
  } catch (const DataError&) {
  }
  return 0;
}
