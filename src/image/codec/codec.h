// JPEG, PNG and WebP, from and to memory or files. Whatever the file holds (grey, alpha, palette,
// 16 bit, CMYK, EXIF orientation) comes out as upright RGB; transparency is composed over white.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/file/file_io.h"
#include "image/image.h"

namespace addp {

struct DecodeLimits {
  std::int64_t max_pixels = 178'956'970;  // Pillow's decompression-bomb limit (twice its warning)
  int max_side = 65'500;
};

struct DecodeOptions {
  DecodeLimits limits;
  // Where a smaller picture is enough: JPEG is then decoded at 1/2, 1/4 or 1/8, the smallest that
  // still has both sides at least this long. 0: full size.
  int min_side = 0;
};

enum class ImageFormat { kUnknown, kJpeg, kPng, kWebp };

// By content, never by extension.
ImageFormat sniff_image_format(ByteSpan bytes);

struct ImageInfo {
  ImageFormat format = ImageFormat::kUnknown;
  int width = 0, height = 0;  // upright, after EXIF orientation
  int channels = 0;           // as stored
  int bits = 8;               // per channel, as stored
  int orientation = 1;        // EXIF
};

// `name` is the file or archive member that a DataError will name.
ImageInfo read_image_info(ByteSpan bytes, const std::string& name, const DecodeLimits& limits = {});
Image decode_image(ByteSpan bytes, const std::string& name, const DecodeOptions& options = {});
Image load_image(const std::filesystem::path& path, const DecodeOptions& options = {});

// Label maps and masks: the stored values, palette indices included, without any colour conversion.
// A colour or 16-bit picture is a DataError.
GrayImage decode_labels(ByteSpan bytes, const std::string& name, const DecodeLimits& limits = {});
GrayImage load_labels(const std::filesystem::path& path, const DecodeLimits& limits = {});

using TextMetadata = std::map<std::string, std::string>;

Bytes encode_png(const Image& image, const TextMetadata& metadata = {});
Bytes encode_png(const GrayImage& image, const TextMetadata& metadata = {});
Bytes encode_jpeg(const Image& image, int quality = 95);
Bytes encode_webp(const Image& image, float quality = 90);  // 100 is lossless

// The extension (.png, .jpg, .jpeg, .webp) chooses the format; the write is atomic. Only PNG
// carries the metadata.
void save_image(const std::filesystem::path& path, const Image& image,
                const TextMetadata& metadata = {});

}  // namespace addp
