// PNG through libpng. The stored picture is returned; codec.cpp turns it upright.
#pragma once

#include <string>

#include "image/codec/codec.h"

namespace addp {

ImageInfo read_png_info(ByteSpan bytes, const std::string& name, const DecodeLimits& limits);
Image decode_png(ByteSpan bytes, const std::string& name, const DecodeLimits& limits);
// How opaque each pixel is: 255 everywhere where the file has no transparency.
GrayImage decode_png_alpha(ByteSpan bytes, const std::string& name, const DecodeLimits& limits);
GrayImage decode_png_labels(ByteSpan bytes, const std::string& name, const DecodeLimits& limits);

}  // namespace addp
