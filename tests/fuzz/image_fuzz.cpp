// Arbitrary bytes to the picture readers: a picture or an addp::Error, within small limits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "image/codec/codec.h"
#include "image/codec/crop_decode.h"

namespace {

addp::DecodeLimits limits() {
  addp::DecodeLimits small;
  small.max_pixels = 1 << 16;
  small.max_side = 2048;
  return small;
}

// A crop that depends on the picture's size only, and so differs from input to input.
addp::CropRequest choose(const addp::ImageInfo& info) {
  addp::CropRequest request;
  const int width = 1 + info.width * 5 / 9, height = 1 + info.height * 4 / 9;
  request.box = {(info.width - width) / 2, (info.height - height) / 3, width, height};
  request.width = 1 + info.width % 37;
  request.height = 1 + info.height % 41;
  request.mirror = info.width % 2 == 0;
  return request;
}

template <class Call>
void attempt(Call call) {
  try {
    call();
  } catch (const addp::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const addp::ByteSpan bytes(data, size);
  const std::string name = "fuzz";
  attempt([&] { addp::read_image_info(bytes, name, limits()); });
  attempt([&] {
    const addp::Image image = addp::decode_image(bytes, name, {limits(), size % 2 == 0 ? 0 : 16});
    if (image.pixels.size() != std::size_t(image.width) * std::size_t(image.height) * 3)
      std::abort();
  });
  attempt([&] { addp::decode_labels(bytes, name, limits()); });
  attempt([&] { addp::decode_crop(bytes, name, choose, limits()); });
  return 0;
}
