#include "image/codec/codec.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "image/codec/exif.h"
#include "image/codec/jpeg.h"
#include "image/codec/png.h"
#include "image/codec/png_chunks.h"
#include "image/codec/webp.h"

namespace addp {
namespace {

[[noreturn]] void fail_unknown(const std::string& name, ByteSpan bytes) {
  if (bytes.empty()) throw DataError("{}: the file is empty; replace it or remove it", name);
  throw DataError("{}: neither JPEG, PNG nor WebP; convert the file or remove it", name);
}

Bytes encode_by_extension(const std::filesystem::path& path, const Image& image,
                          const TextMetadata& metadata) {
  const std::string extension = lower_extension(path.string());
  if (extension == "png") return encode_png(image, metadata);
  if (extension == "jpg" || extension == "jpeg") return encode_jpeg(image);
  if (extension == "webp") return encode_webp(image);
  throw UsageError("{}: cannot tell the picture format from '{}'; use .png, .jpg or .webp", path,
                   path.extension().string());
}

}  // namespace

ImageFormat sniff_image_format(ByteSpan bytes) {
  const auto matches = [&](std::size_t at, const void* text, std::size_t size) {
    return bytes.size() >= at + size && std::memcmp(bytes.data() + at, text, size) == 0;
  };
  if (matches(0, "\xFF\xD8\xFF", 3)) return ImageFormat::kJpeg;
  if (matches(0, kPngSignature, sizeof kPngSignature)) return ImageFormat::kPng;
  if (matches(0, "RIFF", 4) && matches(8, "WEBP", 4)) return ImageFormat::kWebp;
  return ImageFormat::kUnknown;
}

ImageInfo read_image_info(ByteSpan bytes, const std::string& name, const DecodeLimits& limits) {
  switch (sniff_image_format(bytes)) {
    case ImageFormat::kJpeg:
      return JpegReader(bytes, name, limits).info();
    case ImageFormat::kPng:
      return read_png_info(bytes, name, limits);
    case ImageFormat::kWebp:
      return read_webp_info(bytes, name, limits);
    case ImageFormat::kUnknown:
      break;
  }
  fail_unknown(name, bytes);
}

Image decode_image(ByteSpan bytes, const std::string& name, const DecodeOptions& options) {
  const ImageFormat format = sniff_image_format(bytes);
  if (format == ImageFormat::kJpeg) {
    JpegReader reader(bytes, name, options.limits);
    const ImageInfo info = reader.info();
    const float side = float(options.min_side);
    const int denominator =
        side > 0 ? jpeg_denominator(float(info.width), float(info.height), side, side) : 1;
    return apply_orientation(reader.read(denominator), info.orientation);
  }
  if (format == ImageFormat::kPng) {
    const int orientation = png_orientation(bytes, name);
    return apply_orientation(decode_png(bytes, name, options.limits), orientation);
  }
  if (format == ImageFormat::kWebp) {
    const int orientation = read_webp_info(bytes, name, options.limits).orientation;
    return apply_orientation(decode_webp(bytes, name, options.limits), orientation);
  }
  fail_unknown(name, bytes);
}

Image load_image(const std::filesystem::path& path, const DecodeOptions& options) {
  return decode_image(read_file(path), path.string(), options);
}

GrayImage decode_labels(ByteSpan bytes, const std::string& name, const DecodeLimits& limits) {
  switch (sniff_image_format(bytes)) {
    case ImageFormat::kJpeg: {
      JpegReader reader(bytes, name, limits);
      const int orientation = reader.info().orientation;
      return apply_orientation(reader.read_gray(), orientation);
    }
    case ImageFormat::kPng:
      return apply_orientation(decode_png_labels(bytes, name, limits),
                               png_orientation(bytes, name));
    case ImageFormat::kWebp:
      throw DataError("{}: WebP stores colour, not labels; convert the label map to PNG", name);
    case ImageFormat::kUnknown:
      break;
  }
  fail_unknown(name, bytes);
}

GrayImage load_labels(const std::filesystem::path& path, const DecodeLimits& limits) {
  return decode_labels(read_file(path), path.string(), limits);
}

void save_image(const std::filesystem::path& path, const Image& image,
                const TextMetadata& metadata) {
  write_file_atomically(path, ByteSpan(encode_by_extension(path, image, metadata)));
}

}  // namespace addp
