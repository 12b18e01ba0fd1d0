// The chunk level of PNG, below libpng: what can be read without touching the pixels.
#pragma once

#include <functional>
#include <string>

#include "base/file_io.h"

namespace addp {

inline constexpr std::uint8_t kPngSignature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

struct PngChunk {
  std::string type;  // "IHDR", "tEXt", ...
  ByteSpan data;
  std::uint32_t crc = 0;  // as stored
};

// Visits the chunks up to IEND, or until `visit` returns false. A file that ends earlier
// is a DataError.
void visit_png_chunks(ByteSpan bytes, const std::string& name,
                      const std::function<bool(const PngChunk&)>& visit);

// From the eXIf chunk, wherever it stands; 1 if there is none.
int png_orientation(ByteSpan bytes, const std::string& name);

}  // namespace addp
