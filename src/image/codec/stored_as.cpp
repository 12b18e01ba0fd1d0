#include "image/codec/stored_as.h"

#include <charconv>

#include "base/error.h"

namespace addp {

std::string StoredAs::extension() const {
  if (format == ImageFormat::kJpeg) return ".jpg";
  return format == ImageFormat::kWebp ? ".webp" : ".png";
}

StoredAs stored_as(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  StoredAs format;
  if (name == "jpg" || name == "jpeg") {
    format = {ImageFormat::kJpeg, 95};
  } else if (name == "webp") {
    format = {ImageFormat::kWebp, 90};
  } else if (text == "png") {
    return format;
  } else {
    throw UsageError("format '{}': there are png, jpg:QUALITY and webp:QUALITY", text);
  }
  if (colon == std::string::npos) return format;
  const char* begin = text.data() + colon + 1;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(begin, end, format.quality);
  if (error != std::errc() || stop != end || format.quality < 1 || format.quality > 100) {
    throw UsageError("format '{}': the quality is a number from 1 to 100", text);
  }
  return format;
}

Bytes encode_image(const Image& image, const StoredAs& format, const TextMetadata& metadata) {
  switch (format.format) {
    case ImageFormat::kJpeg:
      return encode_jpeg(image, format.quality);
    case ImageFormat::kWebp:
      return encode_webp(image, static_cast<float>(format.quality));
    default:
      return encode_png(image, metadata);
  }
}

Image through_file(const Image& image, const StoredAs& format) {
  if (!format.changes_pixels()) return image;
  return decode_image(encode_image(image, format), "a picture of this program");
}

}  // namespace addp
