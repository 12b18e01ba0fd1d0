#include "data/transforms.h"

#include <algorithm>

#include "base/error.h"

namespace addp {

Image crop_sample(const Sample& sample,
                  const std::function<CropRequest(const ImageInfo&)>& choose) {
  if (sample.encoded.owner != nullptr) {
    if (sample.encoded.view.empty()) throw DataError("{}: is empty", sample.name);
    return decode_crop(sample.encoded.view, sample.name, choose);
  }
  ImageInfo info;
  info.width = sample.image.width;
  info.height = sample.image.height;
  info.channels = 3;
  const CropRequest request = choose(info);
  Image part =
      resize(crop(sample.image, request.box), request.width, request.height, request.filter);
  if (request.mirror) flip_horizontally(part);
  return part;
}

void store_pixels(const Image& image, BatchItem& item) {
  if (!item.floats.empty()) {
    to_chw(image, item.floats);
  } else if (!item.bytes.empty()) {
    if (image.pixels.size() != item.bytes.size()) {
      throw UsageError("a picture of {} x {} does not fit the batch", image.width, image.height);
    }
    std::copy(image.pixels.begin(), image.pixels.end(), item.bytes.begin());
  } else {
    item.image = image;
  }
}

Transform random_crop_transform(const CropTransformOptions& options) {
  return [options](Sample& sample, RandomStream& random, BatchItem& item) {
    const auto choose = [&](const ImageInfo& info) {
      CropRequest request;
      request.box = random_resized_crop(info.width, info.height, options.crop, random);
      request.width = request.height = options.size;
      request.filter = options.filter;
      request.mirror = options.flip && random.chance(0.5);
      return request;
    };
    store_pixels(crop_sample(sample, choose), item);
  };
}

Transform middle_crop_transform(const CropTransformOptions& options) {
  return [options](Sample& sample, RandomStream&, BatchItem& item) {
    const auto choose = [&](const ImageInfo& info) {
      CropRequest request;
      request.box = center_box(info.width, info.height, std::min(info.width, info.height));
      request.width = request.height = options.size;
      request.filter = options.filter;
      return request;
    };
    store_pixels(crop_sample(sample, choose), item);
  };
}

}  // namespace addp
