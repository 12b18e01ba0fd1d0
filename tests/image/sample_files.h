// Odd picture files of every kind, made by the libraries themselves.
#pragma once

#include "base/file/file_io.h"
#include "image/codec/codec.h"
#include "image/image.h"

namespace addp::testing {

// A smooth picture with some detail, which lossy formats keep within a few grey levels.
Image photo_like(int width, int height);

struct JpegKind {
  int quality = 95;
  int h_sampling = 2, v_sampling = 2;            // of luma
  int h_blue_sampling = 1, v_blue_sampling = 1;  // of Cb; Cr has 1
  bool gray = false;
  bool progressive = false;
  bool arithmetic = false;
  int restart_rows = 0;
  int orientation = 0;      // 0: no EXIF
  bool big_endian = false;  // EXIF's byte order
};
Bytes make_jpeg(const Image& image, const JpegKind& kind = {});

enum class CmykKind { kAdobeInverted, kAdobeYcck, kPlain };
// `image` is taken as the RGB result: c = 255 - r, k = 0.
Bytes make_cmyk_jpeg(const Image& image, CmykKind kind);

struct PngKind {
  int color_type = 2;  // PNG's number: 0 grey, 2 RGB, 3 palette, 4 grey+alpha, 6 RGBA
  int bits = 8;
  bool interlaced = false;
  bool transparent_entry = false;  // tRNS: palette entry or sample 0 is transparent
  int orientation = 0;             // 0: no eXIf
};
// Sample i of the file (row by row, channel by channel) is samples[i], of `bits` bits; a palette
// has entries (i, 255 - i, 7 i mod 256).
Bytes make_png(int width, int height, const std::vector<std::uint16_t>& samples,
               const PngKind& kind);

Bytes make_exif(int orientation, bool big_endian);
Bytes make_png_chunk(const std::string& type, ByteSpan content);
// The comments of a PNG file as libpng reads them.
TextMetadata read_png_comments(const Bytes& bytes);
Bytes make_webp_with_exif(const Image& image, int orientation);
Bytes make_webp_rgba(int width, int height, const std::vector<std::uint8_t>& rgba);

}  // namespace addp::testing
