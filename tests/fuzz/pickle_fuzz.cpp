// Any bytes as a pickle, and as a whole file of torch.save: a DataError or values that
// can be walked.
#include <cstdint>

#include "base/error.h"
#include "checkpoint/layout/checkpoint.h"
#include "checkpoint/layout/recognise.h"
#include "checkpoint/pickle/pickle.h"

namespace {

using namespace addp;

constexpr std::uint64_t kMostBytes = 1 << 20;

void walk_pickle(ByteSpan input) {
  const auto pickle = parse_pickle(input, "fuzz");
  PickleBudget budget;
  count_tensors(*pickle->root, budget);
  if (pickle_to_json(*pickle, *pickle->root, budget).dump().empty()) std::abort();
  std::uint64_t total = 0;
  for (const PickleStorage& storage : pickle->storages) {
    total += static_cast<std::uint64_t>(storage.numel) * dtype_size(storage.dtype);
    if (total > kMostBytes) return;
  }
  pickle->bind_storages([](PickleStorage& storage) {
    const auto size = static_cast<std::size_t>(storage.numel) * dtype_size(storage.dtype);
    auto buffer = std::make_shared<Bytes>(size);
    storage.bytes = *buffer;
    storage.owner = buffer;
  });
  for (const PickleTensor& tensor : pickle->tensors) {
    if (tensor.view.nbytes() <= kMostBytes) tensor.view.contiguous_bytes();
  }
}

void open_file(ByteSpan input) {
  const Checkpoint checkpoint = parse_checkpoint(input, nullptr, "fuzz");
  std::uint64_t total = 0;
  for (const auto& [name, tensor] : checkpoint.tensors) total += tensor.nbytes();
  const Recognition found = recognise(checkpoint, {.count_non_finite = total <= kMostBytes});
  if (found.to_json().dump().empty() || checkpoint.metadata.dump().empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const auto use : {walk_pickle, open_file}) {
    try {
      use({data, size});
    } catch (const DataError&) {
    }
  }
  return 0;
}
