#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>

#include "image/codec/alpha.h"
#include "image/codec/exif.h"
#include "image/codec/picture_error.h"
#include "image/codec/png.h"
#include "image/codec/png_chunks.h"

namespace addp {
namespace {

// libpng reports errors by a long jump, which must not pass objects with destructors: what is given
// to guarded() may only hold plain values and references.
class PngReader {
 public:
  PngReader(ByteSpan bytes, const std::string& name, const DecodeLimits& limits)
      : rest_(bytes), name_(name) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw RuntimeError("{}: cannot start libpng", name);
    }
    try {
      open(limits, bytes.size());
    } catch (...) {
      png_destroy_read_struct(&png_, &info_, nullptr);
      throw;
    }
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  int width() const { return static_cast<int>(png_get_image_width(png_, info_)); }
  int height() const { return static_cast<int>(png_get_image_height(png_, info_)); }
  int bits() const { return png_get_bit_depth(png_, info_); }
  int color_type() const { return png_get_color_type(png_, info_); }
  int stored_channels() const { return png_get_channels(png_, info_); }
  bool has_alpha() const {
    return (color_type() & PNG_COLOR_MASK_ALPHA) != 0 ||
           png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
  }

  // 8-bit RGB, or RGBA where there is any transparency.
  void expand_to_rgb() {
    guarded([this] {
      png_set_expand(png_);
      if (bits() == 16) png_set_scale_16(png_);
      if ((color_type() & PNG_COLOR_MASK_COLOR) == 0) png_set_gray_to_rgb(png_);
    });
  }
  void unpack() {
    guarded([this] { png_set_packing(png_); });
  }

  // Every row, `stride` bytes apart, then the rest of the file.
  void read_rows(std::uint8_t* out, std::size_t stride) {
    int passes = 1;
    std::size_t row_bytes = 0;
    guarded([&] {
      passes = png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
      row_bytes = png_get_rowbytes(png_, info_);
    });
    if (row_bytes != stride) fail("an unusual pixel layout");
    const int rows = height();
    guarded([&] {
      for (int pass = 0; pass < passes; ++pass) {
        for (int y = 0; y < rows; ++y) png_read_row(png_, out + std::size_t(y) * stride, nullptr);
      }
      png_read_end(png_, nullptr);
    });
  }

  [[noreturn]] void fail(std::string_view problem) const { fail_picture(name_, "PNG", problem); }

 private:
  template <class Call>
  void guarded(Call call) {
    if (setjmp(jump_) != 0) fail(message_);
    call();
  }

  void open(const DecodeLimits& limits, std::size_t file_size) {
    guarded([&] {
      png_set_read_fn(png_, this, on_read);
      png_set_user_limits(png_, png_uint_32(limits.max_side), png_uint_32(limits.max_side));
      // Comments and colour profiles are of no use here; keeping them would let a file take memory.
      png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, kIgnored, kIgnoredCount);
      png_read_info(png_, info_);
    });
    check_picture_size(name_, width(), height(), limits);
    // Deflate cannot expand more than 1032 times, so a tiny file cannot hold a huge picture.
    const std::uint64_t raw =
        std::uint64_t{png_get_rowbytes(png_, info_)} * std::uint64_t(height());
    if (raw / 1032 > file_size) fail("too few bytes for its size");
  }

  static void on_read(png_structp png, png_bytep out, std::size_t size) {
    auto* self = static_cast<PngReader*>(png_get_io_ptr(png));
    if (size > self->rest_.size()) png_error(png, "the file is cut off");
    std::memcpy(out, self->rest_.data(), size);
    self->rest_ = self->rest_.subspan(size);
  }
  static void on_error(png_structp png, png_const_charp message) {
    auto* self = static_cast<PngReader*>(png_get_error_ptr(png));
    const std::size_t length = std::min(std::strlen(message), sizeof self->message_ - 1);
    std::memcpy(self->message_, message, length);
    self->message_[length] = '\0';
    std::longjmp(self->jump_, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}

  static constexpr png_byte kIgnored[] = "tEXt\0zTXt\0iTXt\0iCCP\0sPLT\0eXIf\0hIST\0pCAL\0sCAL";
  static constexpr int kIgnoredCount = sizeof kIgnored / 5;

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  ByteSpan rest_;
  const std::string& name_;
  std::jmp_buf jump_{};
  char message_[128] = {};
};

}  // namespace

ImageInfo read_png_info(ByteSpan bytes, const std::string& name, const DecodeLimits& limits) {
  const PngReader reader(bytes, name, limits);
  ImageInfo info;
  info.format = ImageFormat::kPng;
  info.width = reader.width();
  info.height = reader.height();
  info.channels = reader.stored_channels();
  info.bits = reader.bits();
  info.orientation = png_orientation(bytes, name);
  if (swaps_sides(info.orientation)) std::swap(info.width, info.height);
  return info;
}

Image decode_png(ByteSpan bytes, const std::string& name, const DecodeLimits& limits) {
  PngReader reader(bytes, name, limits);
  const bool alpha = reader.has_alpha();
  reader.expand_to_rgb();
  Image image(reader.width(), reader.height());
  if (!alpha) {
    reader.read_rows(image.pixels.data(), std::size_t(image.width) * 3);
    return image;
  }
  std::vector<std::uint8_t> rgba(std::size_t(image.width) * std::size_t(image.height) * 4);
  reader.read_rows(rgba.data(), std::size_t(image.width) * 4);
  compose_over_white(rgba.data(), image.pixels.data(), rgba.size() / 4);
  return image;
}

GrayImage decode_png_alpha(ByteSpan bytes, const std::string& name, const DecodeLimits& limits) {
  PngReader reader(bytes, name, limits);
  GrayImage alpha(reader.width(), reader.height());
  std::fill(alpha.pixels.begin(), alpha.pixels.end(), std::uint8_t{255});
  if (!reader.has_alpha()) return alpha;
  reader.expand_to_rgb();
  std::vector<std::uint8_t> rgba(alpha.pixels.size() * 4);
  reader.read_rows(rgba.data(), std::size_t(alpha.width) * 4);
  for (std::size_t i = 0; i < alpha.pixels.size(); ++i) alpha.pixels[i] = rgba[4 * i + 3];
  return alpha;
}

GrayImage decode_png_labels(ByteSpan bytes, const std::string& name, const DecodeLimits& limits) {
  PngReader reader(bytes, name, limits);
  const int type = reader.color_type();
  if ((type != PNG_COLOR_TYPE_GRAY && type != PNG_COLOR_TYPE_PALETTE) || reader.bits() > 8) {
    reader.fail("a label map has one 8-bit channel or a palette");
  }
  reader.unpack();
  GrayImage image(reader.width(), reader.height());
  reader.read_rows(image.pixels.data(), std::size_t(image.width));
  return image;
}

}  // namespace addp
