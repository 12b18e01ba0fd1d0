#include "server/requests/pictures.h"

#include <algorithm>

#include "base/error.h"
#include "image/codec/png.h"
#include "server/http/http_error.h"
#include "server/requests/requests.h"

namespace addp {
namespace {

// Within this, the sizes that headers claim are believed; what is more is our own 413.
DecodeLimits upload_limits() {
  return {.max_pixels = RequestLimits::kMegapixels * 1'000'000, .max_side = 65'500};
}

void check_header(const Bytes& bytes, const std::string& name) {
  if (sniff_image_format(bytes) == ImageFormat::kUnknown) {
    throw HttpError(400, "{}: is no PNG, JPEG or WebP picture", name);
  }
  const ImageInfo info =
      read_image_info(bytes, name, {.max_pixels = INT64_MAX, .max_side = INT32_MAX});
  const std::int64_t pixels = std::int64_t{info.width} * info.height;
  if (pixels > upload_limits().max_pixels || std::max(info.width, info.height) > 65'500) {
    throw HttpError(413, "{}: {}x{} pixels are more than {} megapixels; make it smaller first",
                    name, info.width, info.height, RequestLimits::kMegapixels);
  }
}

}  // namespace

Image decode_upload(const Bytes& bytes, const std::string& name) {
  check_header(bytes, name);
  return decode_image(bytes, name, {.limits = upload_limits()});
}

GrayImage decode_mask(const Bytes& bytes, const std::string& name) {
  const Image image = decode_upload(bytes, name);
  GrayImage mask(image.width, image.height);
  for (std::size_t i = 0; i < mask.pixels.size(); ++i) {
    const std::uint8_t* rgb = image.pixels.data() + 3 * i;
    mask.pixels[i] = std::max({rgb[0], rgb[1], rgb[2]});
  }
  return mask;
}

std::optional<GrayImage> decode_hole(const Bytes& bytes, const std::string& name) {
  check_header(bytes, name);
  if (sniff_image_format(bytes) != ImageFormat::kPng) return std::nullopt;
  GrayImage mask = decode_png_alpha(bytes, name, upload_limits());
  bool opaque = true;
  for (auto& value : mask.pixels) {
    opaque = opaque && value == 255;
    value = static_cast<std::uint8_t>(255 - value);
  }
  if (opaque) return std::nullopt;
  return mask;
}

GrayImage decode_openai_mask(const Bytes& bytes, const std::string& name) {
  if (auto hole = decode_hole(bytes, name)) return std::move(*hole);
  return decode_mask(bytes, name);
}

}  // namespace addp
