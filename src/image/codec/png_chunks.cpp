#include "image/codec/png_chunks.h"

#include <png.h>

#include <string_view>

#include "image/codec/exif.h"
#include "image/codec/picture_error.h"

namespace addp {

int png_orientation(ByteSpan bytes, const std::string& name) {
  if (sniff_image_format(bytes) != ImageFormat::kPng) fail_picture(name, "PNG", "no PNG signature");
  std::size_t at = sizeof kPngSignature;
  for (;;) {  // length, type, content, checksum
    if (bytes.size() - at < 12) fail_picture(name, "PNG", "the file is cut off");
    const std::size_t length = png_get_uint_32(bytes.data() + at);
    if (length > bytes.size() - at - 12) fail_picture(name, "PNG", "the file is cut off");
    const std::string_view type(reinterpret_cast<const char*>(bytes.data() + at + 4), 4);
    if (type == "eXIf") return parse_exif_orientation(bytes.subspan(at + 8, length));
    if (type == "IEND") return 1;
    at += length + 12;
  }
}

}  // namespace addp
