// The chunk level of PNG, below libpng: what can be read without touching the pixels.
#pragma once

#include <string>

#include "base/file/file_io.h"

namespace addp {

inline constexpr std::uint8_t kPngSignature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

// From the eXIf chunk, wherever it stands; 1 if there is none. libpng would decode all pixels to
// come to one behind them. A file that ends before its last chunk is a DataError.
int png_orientation(ByteSpan bytes, const std::string& name);

}  // namespace addp
