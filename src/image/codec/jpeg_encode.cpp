#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "image/codec/codec.h"
#include "image/codec/libjpeg.h"

namespace addp {
namespace {

struct JpegEncoder {
  jpeg_compress_struct cinfo{};
  jpeg_error_mgr errors{};
  std::jmp_buf jump{};
  char message[JMSG_LENGTH_MAX] = {};
  unsigned char* buffer = nullptr;
  unsigned long size = 0;

  JpegEncoder() {
    cinfo.err = jpeg_std_error(&errors);
    cinfo.client_data = this;
    errors.error_exit = [](j_common_ptr common) {
      auto* self = static_cast<JpegEncoder*>(common->client_data);
      common->err->format_message(common, self->message);
      std::longjmp(self->jump, 1);
    };
  }
  ~JpegEncoder() {
    jpeg_destroy_compress(&cinfo);
    std::free(buffer);
  }
  JpegEncoder(const JpegEncoder&) = delete;
  JpegEncoder& operator=(const JpegEncoder&) = delete;

  // Nothing with a destructor lives in here: an error leaves by a long jump.
  bool run(const Image& image, int quality) {
    if (setjmp(jump) != 0) return false;
    jpeg_create_compress(&cinfo);
    jpeg_mem_dest(&cinfo, &buffer, &size);
    cinfo.image_width = JDIMENSION(image.width);
    cinfo.image_height = JDIMENSION(image.height);
    cinfo.input_components = 3;
    cinfo.in_color_space = JCS_RGB;
    jpeg_set_defaults(&cinfo);
    jpeg_set_quality(&cinfo, quality, TRUE);
    if (quality >= 90) {
      // Halved chroma would be the largest error left at this quality.
      cinfo.comp_info[0].h_samp_factor = cinfo.comp_info[0].v_samp_factor = 1;
    }
    jpeg_start_compress(&cinfo, TRUE);
    while (cinfo.next_scanline < cinfo.image_height) {
      auto* row = const_cast<JSAMPROW>(image.row(static_cast<int>(cinfo.next_scanline)));
      jpeg_write_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_compress(&cinfo);
    return true;
  }
};

}  // namespace

Bytes encode_jpeg(const Image& image, int quality) {
  if (image.empty()) throw UsageError("cannot write an empty picture as JPEG");
  if (quality < 1 || quality > 100) {
    throw UsageError("JPEG quality {} is out of range: choose 1 to 100", quality);
  }
  JpegEncoder encoder;
  if (!encoder.run(image, quality)) {
    throw RuntimeError("cannot write a {}x{} picture as JPEG: {}", image.width, image.height,
                       encoder.message);
  }
  return Bytes(encoder.buffer, encoder.buffer + encoder.size);
}

}  // namespace addp
