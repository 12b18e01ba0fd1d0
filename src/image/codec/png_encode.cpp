#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>

#include "base/error.h"
#include "image/codec/codec.h"

namespace addp {
namespace {

// PNG's keywords: 1 to 79 printable Latin-1 characters, no space at either end or doubled. Only
// ASCII is accepted here, so that a key reads back as it was written.
void check_key(const std::string& key) {
  const bool printable =
      std::all_of(key.begin(), key.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (key.empty() || key.size() > 79 || !printable || key.front() == ' ' || key.back() == ' ' ||
      key.find("  ") != std::string::npos) {
    throw UsageError("'{}' cannot be the key of a PNG comment: use 1 to 79 ASCII characters", key);
  }
}

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t'; });
}

struct PngEncoder {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::jmp_buf jump{};
  char message[128] = {};
  Bytes out;
  std::vector<png_text> texts;

  PngEncoder() {
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, this, on_error, nullptr);
    if (png != nullptr) info = png_create_info_struct(png);
  }
  ~PngEncoder() { png_destroy_write_struct(&png, &info); }
  PngEncoder(const PngEncoder&) = delete;
  PngEncoder& operator=(const PngEncoder&) = delete;

  static void on_error(png_structp png, png_const_charp text) {
    auto* self = static_cast<PngEncoder*>(png_get_error_ptr(png));
    std::strncpy(self->message, text, sizeof self->message - 1);
    std::longjmp(self->jump, 1);
  }
  static void on_write(png_structp png, png_bytep data, std::size_t size) {
    Bytes& out = static_cast<PngEncoder*>(png_get_io_ptr(png))->out;
    out.insert(out.end(), data, data + size);
  }

  // tEXt holds Latin-1 only, so anything beyond ASCII goes into iTXt, which is UTF-8.
  void set_metadata(const TextMetadata& metadata) {
    for (const auto& [key, value] : metadata) {
      check_key(key);
      if (value.find('\0') != std::string::npos) {
        throw UsageError("the PNG comment '{}' holds a zero byte, which PNG cannot store", key);
      }
      png_text text{};
      text.compression = is_ascii(value) ? PNG_TEXT_COMPRESSION_NONE : PNG_ITXT_COMPRESSION_NONE;
      text.key = const_cast<char*>(key.c_str());
      text.text = const_cast<char*>(value.c_str());
      text.text_length = value.size();
      texts.push_back(text);
    }
  }

  // Nothing with a destructor lives in here: an error leaves by a long jump.
  bool run(const std::uint8_t* pixels, int width, int height, int channels) {
    if (setjmp(jump) != 0) return false;
    png_set_write_fn(png, this, on_write, nullptr);
    png_set_IHDR(png, info, png_uint_32(width), png_uint_32(height), 8,
                 channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (!texts.empty()) png_set_text(png, info, texts.data(), static_cast<int>(texts.size()));
    png_write_info(png, info);
    const std::size_t stride = std::size_t(width) * std::size_t(channels);
    for (int y = 0; y < height; ++y) png_write_row(png, pixels + std::size_t(y) * stride);
    png_write_end(png, info);
    return true;
  }
};

Bytes encode(const std::uint8_t* pixels, int width, int height, int channels,
             const TextMetadata& metadata) {
  if (width < 1 || height < 1) throw UsageError("cannot write an empty picture as PNG");
  PngEncoder encoder;
  if (encoder.info == nullptr) throw RuntimeError("cannot start libpng");
  encoder.set_metadata(metadata);
  if (!encoder.run(pixels, width, height, channels)) {
    throw RuntimeError("cannot write a {}x{} picture as PNG: {}", width, height, encoder.message);
  }
  return std::move(encoder.out);
}

}  // namespace

Bytes encode_png(const Image& image, const TextMetadata& metadata) {
  return encode(image.pixels.data(), image.width, image.height, 3, metadata);
}

Bytes encode_png(const GrayImage& image, const TextMetadata& metadata) {
  return encode(image.pixels.data(), image.width, image.height, 1, metadata);
}

}  // namespace addp
