#include "data/load/transforms.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/load/middle_crop.h"

namespace addp {
namespace {

Image random_crop(const Sample& sample, const CropTransformOptions& options, RandomStream& random) {
  Image part = crop_sample(sample, [&](const ImageInfo& info) {
    CropRequest request = middle_crop(info, options.size, 1, options.filter);
    if (options.crop.min_area < 1) {
      request.box = random_resized_crop(info.width, info.height, options.crop, random);
    }
    request.mirror = options.flip && random.chance(0.5);
    return request;
  });
  if (options.turn) turn_quarters(part, static_cast<int>(random.integer(0, 3)));
  return part;
}

// Normal noise in a rectangle of [0, 1] pixels gets the mean and deviation of pictures.
void scale_noise(std::span<float> chw, int width, int height, const PixelBox& box) {
  const Normalisation scale;
  for (std::size_t channel = 0; channel < 3; ++channel) {
    for (int y = box.top; y < box.bottom(); ++y) {
      const auto row =
          chw.subspan((channel * std::size_t(height) + std::size_t(y)) * std::size_t(width),
                      std::size_t(width));
      for (int x = box.left; x < box.right(); ++x) {
        float& value = row[std::size_t(x)];
        value = scale.mean[channel] + scale.deviation[channel] * value;
      }
    }
  }
}

}  // namespace

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
    store_pixels(random_crop(sample, options, random), item);
  };
}

CropRequest middle_crop(const ImageInfo& info, int size, double share, Resample filter) {
  CropRequest request;
  const int side = std::min(info.width, info.height);
  const auto kept = static_cast<int>(std::lround(share * side));
  request.box = center_box(info.width, info.height, std::clamp(kept, 1, side));
  request.width = request.height = size;
  request.filter = filter;
  return request;
}

Transform middle_crop_transform(const CropTransformOptions& options) {
  return [options](Sample& sample, RandomStream&, BatchItem& item) {
    const auto choose = [&](const ImageInfo& info) {
      return middle_crop(info, options.size, options.middle, options.filter);
    };
    store_pixels(crop_sample(sample, choose), item);
  };
}

Transform augment_transform(const AugmentTransformOptions& options) {
  std::optional<RandAugment> augment;
  if (options.augment) augment.emplace(*options.augment);
  return [options, augment](Sample& sample, RandomStream& random, BatchItem& item) {
    Image image = random_crop(sample, options.crop, random);
    if (augment) image = (*augment)(std::move(image), random);
    store_pixels(image, item);
    if (options.erasing.probability <= 0) return;
    const PixelBox erased =
        random_erasing(item.floats, image.width, image.height, options.erasing, random);
    if (erased.width > 0) scale_noise(item.floats, image.width, image.height, erased);
  };
}

Image middle_square(const Image& picture, std::int64_t size, double share) {
  ImageInfo info;
  info.width = picture.width;
  info.height = picture.height;
  const CropRequest request = middle_crop(info, static_cast<int>(size), share);
  return resize(crop(picture, request.box), request.width, request.height, request.filter);
}

}  // namespace addp
