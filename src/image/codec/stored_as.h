// The format in which pictures are kept, with its quality: "png", "jpg:95", "webp:90".
#pragma once

#include <string>

#include "image/codec/codec.h"

namespace addp {

struct StoredAs {
  ImageFormat format = ImageFormat::kPng;
  int quality = 100;  // of JPEG and WebP; WebP of 100 is lossless

  bool changes_pixels() const { return format != ImageFormat::kPng; }
  std::string extension() const;  // ".webp"
};

// A UsageError for anything else. Without a quality, JPEG has 95 and WebP 90.
StoredAs stored_as(const std::string& text);

// Only PNG carries the metadata.
Bytes encode_image(const Image& image, const StoredAs& format, const TextMetadata& metadata = {});
// What a reader of such a file sees.
Image through_file(const Image& image, const StoredAs& format);

}  // namespace addp
