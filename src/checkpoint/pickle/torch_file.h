// The files that Python's torch.save writes: a zip with data.pkl and one record per storage (since
// 1.6), and before that a stream of pickles followed by the storages.
#pragma once

#include <memory>
#include <string>

#include "checkpoint/pickle/pickle.h"

namespace addp {

struct TorchFile {
  std::string format;  // "torch-zip", "torch-legacy"
  std::unique_ptr<Pickle> pickle;
  bool script = false;  // saved by torch.jit: an object tree instead of a dict
};

// `verify` compares the checksum of every record that is used (one pass over the file). `owner`
// keeps `bytes` alive; `name` is what errors name.
TorchFile parse_torch_file(ByteSpan bytes, const std::shared_ptr<const void>& owner,
                           const std::string& name, bool verify);

}  // namespace addp
