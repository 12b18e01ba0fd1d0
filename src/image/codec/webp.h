// WebP through libwebp: still pictures and the first frame of animations. The stored picture is
// returned; codec.cpp turns it upright.
#pragma once

#include <string>

#include "image/codec/codec.h"

namespace addp {

ImageInfo read_webp_info(ByteSpan bytes, const std::string& name, const DecodeLimits& limits);
Image decode_webp(ByteSpan bytes, const std::string& name, const DecodeLimits& limits);

}  // namespace addp
