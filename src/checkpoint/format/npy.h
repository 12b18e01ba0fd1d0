// NumPy's array files: .npy, and .npz (a zip of them). The bytes are foreign: every length is
// checked, and object arrays, which would need unpickling, are refused.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/file/file_io.h"
#include "checkpoint/format/tensor.h"

namespace addp {

// The element types of checkpoint/format/tensor.h in little-endian order, C or Fortran layout.
TensorView parse_npy(ByteSpan bytes, std::shared_ptr<const void> owner, const std::string& name);
// The arrays of an .npz by their names without ".npy".
TensorMap parse_npz(ByteSpan bytes, std::shared_ptr<const void> owner, const std::string& name);

// Version 1.0, C order; bfloat16, which NumPy does not have, is a UsageError. The write is atomic.
Bytes format_npy(const TensorView& tensor);
void write_npy(const std::filesystem::path& path, const TensorView& tensor);

}  // namespace addp
