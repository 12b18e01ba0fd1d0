#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "image/codec/exif.h"
#include "image/codec/jpeg.h"
#include "image/codec/libjpeg.h"
#include "image/codec/picture_error.h"
#include "image/resize/resize.h"

namespace addp {
namespace {

// Every scan of a progressive file costs a pass over the whole picture; encoders write about ten.
constexpr int kMaxScans = 100;
constexpr int kBatchRows = 8;

struct ErrorManager {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void leave(j_common_ptr cinfo) {
  auto* errors = reinterpret_cast<ErrorManager*>(cinfo->err);
  cinfo->err->format_message(cinfo, errors->message);
  std::longjmp(errors->jump, 1);
}

// libjpeg fills what is missing with grey and only warns; here missing data is an error. Harmless
// oddities (stray bytes between markers, for example) stay warnings and are ignored.
void on_message(j_common_ptr cinfo, int level) {
  if (level >= 0) return;
  switch (cinfo->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
      leave(cinfo);
    default:
      break;
  }
}

void on_progress(j_common_ptr cinfo) {
  if (reinterpret_cast<j_decompress_ptr>(cinfo)->input_scan_number <= kMaxScans) return;
  auto* errors = reinterpret_cast<ErrorManager*>(cinfo->err);
  std::snprintf(errors->message, sizeof errors->message, "more than %d scans", kMaxScans);
  std::longjmp(errors->jump, 1);
}

// Pillow's conversion: rgb = (1 - k)(1 - cmy). Adobe's files store the complements.
void cmyk_to_rgb(const std::uint8_t* in, std::uint8_t* out, int width, bool inverted) {
  const int flip = inverted ? 255 : 0;
  for (int x = 0; x < width; ++x, in += 4, out += 3) {
    const int white = 255 - (in[3] ^ flip);
    for (int c = 0; c < 3; ++c) {
      const int product = (in[c] ^ flip) * white + 128;
      out[c] = static_cast<std::uint8_t>(white - ((product + (product >> 8)) >> 8));
    }
  }
}

// FF D9 cannot occur inside entropy-coded data, so a file cut off inside its scans has none behind
// the first scan's header.
bool has_end_marker(ByteSpan scans) {
  for (std::size_t i = scans.size(); i >= 2; --i) {
    if (scans[i - 1] == 0xD9 && scans[i - 2] == 0xFF) return true;
  }
  return false;
}

}  // namespace

struct JpegReader::State {
  jpeg_decompress_struct cinfo;
  ErrorManager errors;
  jpeg_progress_mgr progress;
  ByteSpan bytes;
  std::string name;
  int orientation = 1;

  // libjpeg reports errors by a long jump, which must not pass objects with destructors: `call` may
  // only hold plain values and references.
  template <class Call>
  void guarded(Call call) {
    if (setjmp(errors.jump) != 0) fail(errors.message);
    call();
  }

  [[noreturn]] void fail(std::string_view problem) const { fail_picture(name, "JPEG", problem); }

  bool is_cmyk() const {
    return cinfo.jpeg_color_space == JCS_CMYK || cinfo.jpeg_color_space == JCS_YCCK;
  }

  // libjpeg-turbo decodes parts of a picture exactly for chroma at full or half resolution. With
  // quarter resolution, a part of a reduced picture comes out different from the whole one's.
  bool decodes_parts_exactly() const {
    return cinfo.scale_denom == 1 || (cinfo.max_h_samp_factor <= 2 && cinfo.max_v_samp_factor <= 2);
  }

  void open(const DecodeLimits& limits);
  void check_plausible() const;
  void start(int denominator, J_COLOR_SPACE space);
  Image read_all();
  void read_rows(const PixelBox& region, int channels, int left, int decoded_width,
                 std::uint8_t* out);
};

void JpegReader::State::open(const DecodeLimits& limits) {
  cinfo.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = leave;
  errors.base.emit_message = on_message;
  guarded([this] {
    jpeg_create_decompress(&cinfo);
    jpeg_mem_src(&cinfo, bytes.data(), bytes.size());
    jpeg_save_markers(&cinfo, JPEG_APP0 + 1, 0xFFFF);
    jpeg_read_header(&cinfo, TRUE);
  });
  progress.progress_monitor = on_progress;
  cinfo.progress = &progress;
  check_picture_size(name, cinfo.image_width, cinfo.image_height, limits);
  check_plausible();
  for (auto* marker = cinfo.marker_list; marker != nullptr; marker = marker->next) {
    const ByteSpan data(marker->data, marker->data_length);
    if (data.size() < 6 || std::memcmp(data.data(), "Exif\0", 6) != 0) continue;
    orientation = parse_exif_orientation(data);
    break;
  }
}

// A Huffman-coded block of 8x8 pixels takes at least one bit, so a tiny file cannot hold
// a huge picture.
void JpegReader::State::check_plausible() const {
  if (cinfo.arith_code) return;
  const std::uint64_t blocks =
      ((std::uint64_t{cinfo.image_width} + 7) / 8) * ((std::uint64_t{cinfo.image_height} + 7) / 8);
  if (blocks / 8 > bytes.size()) fail("too few bytes for its size");
}

void JpegReader::State::start(int denominator, J_COLOR_SPACE space) {
  const std::size_t rest = cinfo.src->bytes_in_buffer;
  if (!has_end_marker(bytes.subspan(bytes.size() - rest))) fail("the file is cut off");
  cinfo.out_color_space = space;
  cinfo.scale_num = 1;
  cinfo.scale_denom = static_cast<unsigned>(denominator);
  // Smoothing guesses coefficients that a complete file does not lack.
  cinfo.do_block_smoothing = FALSE;
  guarded([this] { jpeg_start_decompress(&cinfo); });
}

void JpegReader::State::read_rows(const PixelBox& region, int channels, int left, int decoded_width,
                                  std::uint8_t* out) {
  const std::size_t stride = std::size_t(decoded_width) * std::size_t(channels);
  std::vector<std::uint8_t> scratch(stride * kBatchRows);
  const bool to_rgb = channels == 4;
  const std::size_t out_stride = std::size_t(region.width) * std::size_t(to_rgb ? 3 : channels);
  const bool direct = decoded_width == region.width && !to_rgb;
  for (int y = 0; y < region.height;) {
    JSAMPROW rows[kBatchRows];
    const int wanted = std::min(kBatchRows, region.height - y);
    for (int i = 0; i < wanted; ++i) {
      rows[i] =
          direct ? out + std::size_t(i) * out_stride : scratch.data() + std::size_t(i) * stride;
    }
    int got = 0;
    guarded([&] { got = static_cast<int>(jpeg_read_scanlines(&cinfo, rows, JDIMENSION(wanted))); });
    if (got < 1) fail("the file is cut off");
    for (int i = 0; i < got && !direct; ++i) {
      const std::uint8_t* from = rows[i] + std::size_t(region.left - left) * std::size_t(channels);
      std::uint8_t* to = out + std::size_t(i) * out_stride;
      if (to_rgb) {
        cmyk_to_rgb(from, to, region.width, cinfo.saw_Adobe_marker != 0);
      } else {
        std::memcpy(to, from, out_stride);
      }
    }
    y += got;
    out += out_stride * std::size_t(got);
  }
}

JpegReader::JpegReader(ByteSpan bytes, const std::string& name, const DecodeLimits& limits)
    : state_(std::make_unique<State>()) {
  state_->cinfo = {};
  state_->progress = {};
  state_->bytes = bytes;
  state_->name = name;
  try {
    state_->open(limits);
  } catch (...) {
    jpeg_destroy_decompress(&state_->cinfo);
    throw;
  }
}

JpegReader::~JpegReader() { jpeg_destroy_decompress(&state_->cinfo); }

ImageInfo JpegReader::info() const {
  ImageInfo info;
  info.format = ImageFormat::kJpeg;
  info.width = stored_width();
  info.height = stored_height();
  info.channels = state_->cinfo.num_components;
  info.bits = state_->cinfo.data_precision;
  info.orientation = state_->orientation;
  if (swaps_sides(info.orientation)) std::swap(info.width, info.height);
  return info;
}

int JpegReader::stored_width() const { return static_cast<int>(state_->cinfo.image_width); }
int JpegReader::stored_height() const { return static_cast<int>(state_->cinfo.image_height); }

Image JpegReader::State::read_all() {
  Image image(static_cast<int>(cinfo.output_width), static_cast<int>(cinfo.output_height));
  read_rows({0, 0, image.width, image.height}, is_cmyk() ? 4 : 3, 0, image.width,
            image.pixels.data());
  guarded([this] { jpeg_finish_decompress(&cinfo); });
  return image;
}

Image JpegReader::read(int denominator) {
  state_->start(denominator, state_->is_cmyk() ? JCS_CMYK : JCS_RGB);
  return state_->read_all();
}

Image JpegReader::read_region(int denominator, const PixelBox& region) {
  State& state = *state_;
  jpeg_decompress_struct& cinfo = state.cinfo;
  state.start(denominator, state.is_cmyk() ? JCS_CMYK : JCS_RGB);
  if (!state.decodes_parts_exactly()) return crop(state.read_all(), region);
  // libjpeg treats the edge of the decoded part like the picture's edge when it interpolates
  // chroma; with a margin that cannot reach the region.
  constexpr int kMargin = 4;
  const int total = static_cast<int>(cinfo.output_width);
  JDIMENSION left = JDIMENSION(std::max(0, region.left - kMargin));
  JDIMENSION width = JDIMENSION(std::min(total, region.right() + kMargin)) - left;
  state.guarded([&] {
    if (width < cinfo.output_width) jpeg_crop_scanline(&cinfo, &left, &width);
    if (region.top > 0) jpeg_skip_scanlines(&cinfo, JDIMENSION(region.top));
  });
  Image image(region.width, region.height);
  state.read_rows(region, state.is_cmyk() ? 4 : 3, static_cast<int>(left), static_cast<int>(width),
                  image.pixels.data());
  return image;
}

GrayImage JpegReader::read_gray() {
  State& state = *state_;
  if (state.cinfo.jpeg_color_space != JCS_GRAYSCALE) state.fail("a label map has one channel");
  state.start(1, JCS_GRAYSCALE);
  GrayImage image(static_cast<int>(state.cinfo.output_width),
                  static_cast<int>(state.cinfo.output_height));
  state.read_rows({0, 0, image.width, image.height}, 1, 0, image.width, image.pixels.data());
  state.guarded([&] { jpeg_finish_decompress(&state.cinfo); });
  return image;
}

int jpeg_denominator(float width, float height, float min_width, float min_height) {
  for (const int denominator : {8, 4, 2}) {
    if (width / float(denominator) >= min_width && height / float(denominator) >= min_height) {
      return denominator;
    }
  }
  return 1;
}

}  // namespace addp
