#include "image/codec/webp.h"

#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>
#include <webp/mux.h>

#include <memory>

#include "image/codec/alpha.h"
#include "image/codec/animation.h"
#include "image/codec/exif.h"
#include "image/codec/picture_error.h"

namespace addp {
namespace {

using Demuxer = std::unique_ptr<WebPDemuxer, decltype(&WebPDemuxDelete)>;
using AnimationDecoder = std::unique_ptr<WebPAnimDecoder, decltype(&WebPAnimDecoderDelete)>;
using AnimationEncoder = std::unique_ptr<WebPAnimEncoder, decltype(&WebPAnimEncoderDelete)>;

[[noreturn]] void fail(const std::string& name, std::string_view problem) {
  fail_picture(name, "WebP", problem);
}

struct Header {
  ImageInfo info;  // sides as stored
  bool animated = false;
};

int read_orientation(const WebPDemuxer* demuxer) {
  WebPChunkIterator chunk{};
  int orientation = 1;
  if (WebPDemuxGetChunk(demuxer, "EXIF", 1, &chunk) != 0) {
    orientation = parse_exif_orientation({chunk.chunk.bytes, chunk.chunk.size});
  }
  WebPDemuxReleaseChunkIterator(&chunk);
  return orientation;
}

Header read_header(ByteSpan bytes, const std::string& name, const DecodeLimits& limits) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(bytes.data(), bytes.size(), &features) != VP8_STATUS_OK) {
    fail(name, "damaged header");
  }
  Header header;
  header.animated = features.has_animation != 0;
  header.info.format = ImageFormat::kWebp;
  header.info.width = features.width;
  header.info.height = features.height;
  header.info.channels = features.has_alpha ? 4 : 3;
  check_picture_size(name, features.width, features.height, limits);
  const WebPData data{bytes.data(), bytes.size()};
  const Demuxer demuxer(WebPDemux(&data), WebPDemuxDelete);
  if (demuxer == nullptr) fail(name, "the file is cut off or damaged");
  header.info.orientation = read_orientation(demuxer.get());
  return header;
}

Image decode_first_frame(ByteSpan bytes, const std::string& name, const ImageInfo& info) {
  WebPAnimDecoderOptions options;
  WebPAnimDecoderOptionsInit(&options);
  options.color_mode = MODE_RGBA;
  const WebPData data{bytes.data(), bytes.size()};
  const AnimationDecoder decoder(WebPAnimDecoderNew(&data, &options), WebPAnimDecoderDelete);
  std::uint8_t* canvas = nullptr;
  int time = 0;
  if (decoder == nullptr || WebPAnimDecoderGetNext(decoder.get(), &canvas, &time) == 0) {
    fail(name, "the first frame is damaged");
  }
  Image image(info.width, info.height);
  compose_over_white(canvas, image.pixels.data(), image.pixels.size() / 3);
  return image;
}

struct Picture {
  WebPPicture webp;
  explicit Picture(const Image& image) {
    WebPPictureInit(&webp);
    webp.use_argb = 1;
    webp.width = image.width;
    webp.height = image.height;
    if (WebPPictureImportRGB(&webp, image.pixels.data(), image.width * 3) == 0) {
      throw RuntimeError("out of memory for a {}x{} WebP picture", image.width, image.height);
    }
  }
  ~Picture() { WebPPictureFree(&webp); }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;
};

void check_encodable(const Image& image, float quality) {
  if (image.empty()) throw UsageError("cannot write an empty picture as WebP");
  if (image.width > WEBP_MAX_DIMENSION || image.height > WEBP_MAX_DIMENSION) {
    throw UsageError("a {}x{} picture is too large for WebP ({} a side): write PNG or JPEG",
                     image.width, image.height, WEBP_MAX_DIMENSION);
  }
  if (!(quality >= 0 && quality <= 100)) {
    throw UsageError("WebP quality {} is out of range: choose 0 to 100", quality);
  }
}

WebPConfig make_config(float quality) {
  WebPConfig config;
  WebPConfigInit(&config);
  config.quality = quality;
  if (quality == 100) {
    config.lossless = 1;
    config.quality = 75;  // the effort, for a lossless file
    config.exact = 1;
  }
  return config;
}

}  // namespace

ImageInfo read_webp_info(ByteSpan bytes, const std::string& name, const DecodeLimits& limits) {
  ImageInfo info = read_header(bytes, name, limits).info;
  if (swaps_sides(info.orientation)) std::swap(info.width, info.height);
  return info;
}

Image decode_webp(ByteSpan bytes, const std::string& name, const DecodeLimits& limits) {
  const Header header = read_header(bytes, name, limits);
  if (header.animated) return decode_first_frame(bytes, name, header.info);
  Image image(header.info.width, header.info.height);
  if (header.info.channels == 3) {
    if (WebPDecodeRGBInto(bytes.data(), bytes.size(), image.pixels.data(), image.pixels.size(),
                          image.width * 3) == nullptr) {
      fail(name, "the pixels are cut off or damaged");
    }
    return image;
  }
  std::vector<std::uint8_t> rgba(image.pixels.size() / 3 * 4);
  if (WebPDecodeRGBAInto(bytes.data(), bytes.size(), rgba.data(), rgba.size(), image.width * 4) ==
      nullptr) {
    fail(name, "the pixels are cut off or damaged");
  }
  compose_over_white(rgba.data(), image.pixels.data(), rgba.size() / 4);
  return image;
}

Bytes encode_webp(const Image& image, float quality) {
  check_encodable(image, quality);
  const WebPConfig config = make_config(quality);
  Picture picture(image);
  WebPMemoryWriter writer;
  WebPMemoryWriterInit(&writer);
  picture.webp.writer = WebPMemoryWrite;
  picture.webp.custom_ptr = &writer;
  const bool written = WebPEncode(&config, &picture.webp) != 0;
  Bytes bytes;
  if (written) bytes.assign(writer.mem, writer.mem + writer.size);
  WebPMemoryWriterClear(&writer);
  if (!written) {
    throw RuntimeError("cannot write a {}x{} picture as WebP (libwebp's error {})", image.width,
                       image.height, static_cast<int>(picture.webp.error_code));
  }
  return bytes;
}

Bytes encode_webp_animation(std::span<const Image> frames, const AnimationOptions& options) {
  if (frames.empty()) throw UsageError("an animation needs at least one frame");
  if (options.frame_ms < 1 || options.last_ms < 0) {
    throw UsageError("an animation's frames cannot last {} ms", options.frame_ms);
  }
  check_encodable(frames.front(), options.quality);
  WebPAnimEncoderOptions settings;
  WebPAnimEncoderOptionsInit(&settings);
  settings.anim_params.loop_count = options.loops;
  const int width = frames.front().width, height = frames.front().height;
  const AnimationEncoder encoder(WebPAnimEncoderNew(width, height, &settings),
                                 WebPAnimEncoderDelete);
  if (encoder == nullptr) throw RuntimeError("out of memory for a {}x{} animation", width, height);
  const WebPConfig config = make_config(options.quality);
  int time = 0;
  for (const Image& frame : frames) {
    if (frame.width != width || frame.height != height) {
      throw UsageError("a frame of {}x{} in an animation of {}x{}: give all frames one size",
                       frame.width, frame.height, width, height);
    }
    Picture picture(frame);
    if (WebPAnimEncoderAdd(encoder.get(), &picture.webp, time, &config) == 0) {
      throw RuntimeError("cannot write the animation: {}", WebPAnimEncoderGetError(encoder.get()));
    }
    time += options.frame_ms;
  }
  if (options.last_ms > 0) time += options.last_ms - options.frame_ms;
  WebPData data;
  WebPDataInit(&data);
  if (WebPAnimEncoderAdd(encoder.get(), nullptr, time, nullptr) == 0 ||
      WebPAnimEncoderAssemble(encoder.get(), &data) == 0) {
    throw RuntimeError("cannot write the animation: {}", WebPAnimEncoderGetError(encoder.get()));
  }
  Bytes bytes(data.bytes, data.bytes + data.size);
  WebPDataClear(&data);
  return bytes;
}

}  // namespace addp
