#include "image/codec/crop_decode.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "image/codec/exif.h"
#include "image/codec/jpeg.h"

namespace addp {
namespace {

void check_crop(const PixelBox& box, const ImageInfo& info, const std::string& name) {
  if (box.left < 0 || box.top < 0 || box.width < 1 || box.height < 1 ||
      box.width > info.width - box.left || box.height > info.height - box.top) {
    throw UsageError("{}: the {}x{} crop at ({}, {}) does not lie inside the {}x{} picture", name,
                     box.width, box.height, box.left, box.top, info.width, info.height);
  }
}

// The whole pixels of the reduced picture that touch the box.
PixelBox covering(const Box& box, int width, int height) {
  const int left = std::clamp(static_cast<int>(std::floor(box.left)), 0, width - 1);
  const int top = std::clamp(static_cast<int>(std::floor(box.top)), 0, height - 1);
  const int right = std::clamp(static_cast<int>(std::ceil(box.right)), left + 1, width);
  const int bottom = std::clamp(static_cast<int>(std::ceil(box.bottom)), top + 1, height);
  return {left, top, right - left, bottom - top};
}

Image decode_jpeg_crop(JpegReader& reader, const CropRequest& request, const ImageInfo& info) {
  const PixelBox& crop = request.box;
  const int denominator = request.reduced
                              ? jpeg_denominator(float(crop.width), float(crop.height),
                                                 float(request.width), float(request.height))
                              : 1;
  const int stored_width = reader.stored_width(), stored_height = reader.stored_height();
  const Box stored =
      to_stored(to_box(crop), info.orientation, float(stored_width), float(stored_height));
  const float scale = 1.0f / float(denominator);
  const Box reduced{stored.left * scale, stored.top * scale, stored.right * scale,
                    stored.bottom * scale};
  const PixelBox tile = covering(reduced, (stored_width + denominator - 1) / denominator,
                                 (stored_height + denominator - 1) / denominator);
  const Box inside{reduced.left - float(tile.left), reduced.top - float(tile.top),
                   reduced.right - float(tile.left), reduced.bottom - float(tile.top)};
  const Box upright = to_upright(inside, info.orientation, float(tile.width), float(tile.height));
  const Image part = apply_orientation(reader.read_region(denominator, tile), info.orientation);
  return resize(part, request.width, request.height, request.filter, upright, request.mirror);
}

}  // namespace

Image decode_crop(ByteSpan bytes, const std::string& name,
                  const std::function<CropRequest(const ImageInfo&)>& choose,
                  const DecodeLimits& limits) {
  if (sniff_image_format(bytes) == ImageFormat::kJpeg) {
    JpegReader reader(bytes, name, limits);
    const ImageInfo info = reader.info();
    const CropRequest request = choose(info);
    check_crop(request.box, info, name);
    return decode_jpeg_crop(reader, request, info);
  }
  const ImageInfo info = read_image_info(bytes, name, limits);
  const CropRequest request = choose(info);
  check_crop(request.box, info, name);
  const Image whole = decode_image(bytes, name, {limits, 0});
  const Image part = crop(whole, request.box);
  return resize(part, request.width, request.height, request.filter,
                {0, 0, float(part.width), float(part.height)}, request.mirror);
}

}  // namespace addp
