// Base64 (RFC 4648), for bytes inside of text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file/file_io.h"

namespace addp {

std::string base64(ByteSpan bytes);
// Nothing where the text is not base64. Line breaks are skipped, padding may be left out.
std::optional<Bytes> from_base64(std::string_view text);

}  // namespace addp
