// SHA-256 (FIPS 180-4), for naming files by their content.
#pragma once

#include <string>

#include "base/file_io.h"

namespace addp {

std::string sha256_hex(ByteSpan bytes);  // 64 lower-case digits

}  // namespace addp
