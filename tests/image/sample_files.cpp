#include "image/sample_files.h"

#include <png.h>
#include <webp/encode.h>
#include <webp/mux.h>
#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "image/codec/codec.h"
#include "image/codec/libjpeg.h"

namespace addp::testing {
namespace {

// libjpeg's default error handler ends the process, which is what a broken test should do.
class JpegWriter {
 public:
  JpegWriter(int width, int height, int channels, J_COLOR_SPACE space) {
    cinfo.err = jpeg_std_error(&errors_);
    jpeg_create_compress(&cinfo);
    jpeg_mem_dest(&cinfo, &buffer_, &size_);
    cinfo.image_width = JDIMENSION(width);
    cinfo.image_height = JDIMENSION(height);
    cinfo.input_components = channels;
    cinfo.in_color_space = space;
    jpeg_set_defaults(&cinfo);
  }
  ~JpegWriter() {
    jpeg_destroy_compress(&cinfo);
    std::free(buffer_);
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  Bytes write(const std::uint8_t* pixels) {
    const std::size_t stride = cinfo.image_width * std::size_t(cinfo.input_components);
    while (cinfo.next_scanline < cinfo.image_height) {
      auto* row = const_cast<JSAMPROW>(pixels + cinfo.next_scanline * stride);
      jpeg_write_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_compress(&cinfo);
    return Bytes(buffer_, buffer_ + size_);
  }

  jpeg_compress_struct cinfo{};

 private:
  jpeg_error_mgr errors_{};
  unsigned char* buffer_ = nullptr;
  unsigned long size_ = 0;
};

void append(Bytes& bytes, std::uint64_t value, int size, bool big_endian) {
  for (int i = 0; i < size; ++i) {
    const int shift = 8 * (big_endian ? size - 1 - i : i);
    bytes.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

}  // namespace

Image photo_like(int width, int height) {
  Image image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image.at(x, y)[0] = std::uint8_t(127 + 90 * std::sin(0.11 * x + 0.05 * y));
      image.at(x, y)[1] = std::uint8_t(127 + 90 * std::cos(0.07 * x - 0.09 * y));
      image.at(x, y)[2] = std::uint8_t(127 + 60 * std::sin(0.31 * x) * std::cos(0.23 * y));
    }
  }
  return image;
}

Bytes make_exif(int orientation, bool big_endian) {
  Bytes exif;
  exif.push_back(big_endian ? 'M' : 'I');
  exif.push_back(exif[0]);
  append(exif, 42, 2, big_endian);
  append(exif, 8, 4, big_endian);
  append(exif, 2, 2,
         big_endian);  // entries: a width that must be passed over, then the orientation
  append(exif, 0x0100, 2, big_endian);
  append(exif, 4, 2, big_endian);
  append(exif, 1, 4, big_endian);
  append(exif, 77, 4, big_endian);
  append(exif, 0x0112, 2, big_endian);
  append(exif, 3, 2, big_endian);
  append(exif, 1, 4, big_endian);
  append(exif, std::uint64_t(orientation), 2, big_endian);
  append(exif, 0, 2, big_endian);
  append(exif, 0, 4, big_endian);
  return exif;
}

Bytes make_jpeg(const Image& image, const JpegKind& kind) {
  JpegWriter writer(image.width, image.height, 3, JCS_RGB);
  if (kind.gray) jpeg_set_colorspace(&writer.cinfo, JCS_GRAYSCALE);
  jpeg_set_quality(&writer.cinfo, kind.quality, TRUE);
  if (!kind.gray) {
    writer.cinfo.comp_info[0].h_samp_factor = kind.h_sampling;
    writer.cinfo.comp_info[0].v_samp_factor = kind.v_sampling;
    writer.cinfo.comp_info[1].h_samp_factor = kind.h_blue_sampling;
    writer.cinfo.comp_info[1].v_samp_factor = kind.v_blue_sampling;
  }
  if (kind.progressive) jpeg_simple_progression(&writer.cinfo);
  writer.cinfo.arith_code = kind.arithmetic ? TRUE : FALSE;
  writer.cinfo.restart_in_rows = kind.restart_rows;
  jpeg_start_compress(&writer.cinfo, TRUE);
  if (kind.orientation > 0) {
    Bytes marker{'E', 'x', 'i', 'f', 0, 0};
    const Bytes exif = make_exif(kind.orientation, kind.big_endian);
    marker.insert(marker.end(), exif.begin(), exif.end());
    jpeg_write_marker(&writer.cinfo, JPEG_APP0 + 1, marker.data(), unsigned(marker.size()));
  }
  return writer.write(image.pixels.data());
}

Bytes make_cmyk_jpeg(const Image& image, CmykKind kind) {
  JpegWriter writer(image.width, image.height, 4, JCS_CMYK);
  jpeg_set_colorspace(&writer.cinfo, kind == CmykKind::kAdobeYcck ? JCS_YCCK : JCS_CMYK);
  jpeg_set_quality(&writer.cinfo, 97, TRUE);
  for (int i = 0; i < 4; ++i) {
    writer.cinfo.comp_info[i].h_samp_factor = writer.cinfo.comp_info[i].v_samp_factor = 1;
  }
  const bool adobe = kind != CmykKind::kPlain;
  writer.cinfo.write_Adobe_marker = adobe ? TRUE : FALSE;
  jpeg_start_compress(&writer.cinfo, TRUE);
  std::vector<std::uint8_t> cmyk;
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    cmyk.push_back(adobe ? image.pixels[i] : std::uint8_t(255 - image.pixels[i]));
    if (i % 3 == 2) cmyk.push_back(adobe ? 255 : 0);
  }
  return writer.write(cmyk.data());
}

Bytes make_png(int width, int height, const std::vector<std::uint16_t>& samples,
               const PngKind& kind) {
  Bytes out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &out,
      [](png_structp p, png_bytep data, std::size_t size) {
        auto* bytes = static_cast<Bytes*>(png_get_io_ptr(p));
        bytes->insert(bytes->end(), data, data + size);
      },
      nullptr);
  png_set_IHDR(png, info, png_uint_32(width), png_uint_32(height), kind.bits, kind.color_type,
               kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  std::vector<png_color> palette;
  for (int i = 0; i < (1 << kind.bits) && i < 256; ++i) {
    palette.push_back({png_byte(i), png_byte(255 - i), png_byte(7 * i)});
  }
  if (kind.color_type == PNG_COLOR_TYPE_PALETTE) {
    png_set_PLTE(png, info, palette.data(), int(palette.size()));
  }
  if (kind.transparent_entry) {
    const png_byte alpha = 0;
    png_color_16 sample{};
    png_set_tRNS(png, info, &alpha, 1, &sample);
  }
  Bytes exif = make_exif(std::max(kind.orientation, 1), true);
  if (kind.orientation > 0) png_set_eXIf_1(png, info, png_uint_32(exif.size()), exif.data());
  png_write_info(png, info);
  if (kind.bits < 8) png_set_packing(png);
  const std::size_t channels = png_get_channels(png, info);
  const std::size_t stride = std::size_t(width) * channels * (kind.bits == 16 ? 2 : 1);
  std::vector<png_byte> raw;
  for (const std::uint16_t sample : samples) {
    if (kind.bits == 16) raw.push_back(png_byte(sample >> 8));
    raw.push_back(png_byte(sample));
  }
  std::vector<png_bytep> rows;
  for (int y = 0; y < height; ++y) rows.push_back(raw.data() + std::size_t(y) * stride);
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return out;
}

Bytes make_png_chunk(const std::string& type, ByteSpan content) {
  Bytes chunk;
  append(chunk, content.size(), 4, true);
  chunk.insert(chunk.end(), type.begin(), type.end());
  chunk.insert(chunk.end(), content.begin(), content.end());
  append(chunk, crc32(0, chunk.data() + 4, uInt(chunk.size() - 4)), 4, true);
  return chunk;
}

TextMetadata read_png_comments(const Bytes& bytes) {
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  ByteSpan rest = bytes;
  png_set_read_fn(png, &rest, [](png_structp p, png_bytep to, std::size_t size) {
    auto* from = static_cast<ByteSpan*>(png_get_io_ptr(p));
    if (from->size() < size) png_error(p, "cut off");
    std::copy_n(from->begin(), size, to);
    *from = from->subspan(size);
  });
  png_read_info(png, info);
  png_textp texts = nullptr;
  const int count = png_get_text(png, info, &texts, nullptr);
  TextMetadata comments;
  for (int i = 0; i < count; ++i) comments[texts[i].key] = texts[i].text;
  png_destroy_read_struct(&png, &info, nullptr);
  return comments;
}

Bytes make_webp_with_exif(const Image& image, int orientation) {
  const Bytes plain = encode_webp(image, 100);
  const Bytes exif = make_exif(orientation, false);
  const WebPData data{plain.data(), plain.size()}, chunk{exif.data(), exif.size()};
  WebPMux* mux = WebPMuxCreate(&data, 1);
  WebPMuxSetChunk(mux, "EXIF", &chunk, 1);
  WebPData out{};
  WebPMuxAssemble(mux, &out);
  const Bytes bytes(out.bytes, out.bytes + out.size);
  WebPDataClear(&out);
  WebPMuxDelete(mux);
  return bytes;
}

Bytes make_webp_rgba(int width, int height, const std::vector<std::uint8_t>& rgba) {
  std::uint8_t* out = nullptr;
  const std::size_t size = WebPEncodeLosslessRGBA(rgba.data(), width, height, width * 4, &out);
  const Bytes bytes(out, out + size);
  WebPFree(out);
  return bytes;
}

}  // namespace addp::testing
