#include "data/load/annotated_transforms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "data/load/transforms.h"
#include "image/draw/draw.h"

namespace addp {
namespace {

constexpr Color kGrey{124, 116, 104};  // ImageNet's mean: zero to the network
constexpr int kCropTries = 10;

// The part of `image` on a grey square.
Image place_picture(const Image& image, const Placement& at, int size) {
  Image square = resize(image, at.width, at.height, Resample::kBilinear,
                        at.source(image.width, image.height), at.mirror);
  if (at.width != size || at.height != size) {
    const Image part = std::move(square);
    square = make_canvas(size, size, kGrey);
    paste(square, part, 0, 0);
  }
  turn_quarters(square, at.turns);
  return square;
}

GrayImage place_labels(const GrayImage& labels, const Placement& at, int size,
                       std::uint8_t beside) {
  GrayImage square =
      resize_labels(labels, at.width, at.height, at.source(labels.width, labels.height));
  if (at.mirror) flip_horizontally(square);
  if (at.width != size || at.height != size) {
    const GrayImage part = std::move(square);
    square = GrayImage(size, size);
    std::fill(square.pixels.begin(), square.pixels.end(), beside);
    for (int y = 0; y < at.height; ++y) std::copy_n(part.row(y), at.width, square.row(y));
  }
  turn_quarters(square, at.turns);
  return square;
}

double largest_share(const GrayImage& labels) {
  std::array<std::size_t, 256> counts{};
  for (const std::uint8_t label : labels.pixels) ++counts[label];
  counts[kIgnoreLabel] = 0;
  std::size_t all = 0, most = 0;
  for (const std::size_t count : counts) {
    all += count;
    most = std::max(most, count);
  }
  return all == 0 ? 1 : static_cast<double>(most) / static_cast<double>(all);
}

// Of a side of so many pixels, to the size that the options ask for and a random factor.
template <class TransformOptions>
double random_scale(const TransformOptions& options, int side, RandomStream& random) {
  return random.uniform(options.scale_low, options.scale_high) * options.size /
         static_cast<double>(side);
}

double detection_scale(const DetectionTransformOptions& options, const Image& picture,
                       RandomStream& random) {
  if (options.magnify > 0) {
    return random.uniform(options.scale_low, options.scale_high) * options.magnify;
  }
  return random_scale(options, std::max(picture.width, picture.height), random);
}

}  // namespace

Box Placement::source(int picture_width, int picture_height) const {
  const auto edge = [this](double place, int limit) {
    return static_cast<float>(std::clamp(place / scale, 0.0, static_cast<double>(limit)));
  };
  return {edge(left, picture_width), edge(top, picture_height), edge(left + width, picture_width),
          edge(top + height, picture_height)};
}

Placement random_placement(int width, int height, double scale, const PlacementOptions& options,
                           RandomStream& random) {
  Placement at;
  at.scale = scale;
  const auto side = [&](int length) { return std::max(1.0, std::floor(length * scale + 1e-6)); };
  at.width = static_cast<int>(std::min<double>(options.size, side(width)));
  at.height = static_cast<int>(std::min<double>(options.size, side(height)));
  at.left = std::floor(random.uniform(0, side(width) - at.width + 1));
  at.top = std::floor(random.uniform(0, side(height) - at.height + 1));
  at.mirror = options.flip && random.chance(0.5);
  if (options.turn) at.turns = static_cast<int>(random.integer(0, 3));
  return at;
}

Transform segmentation_transform(const SegmentationTransformOptions& options) {
  return [options](Sample& sample, RandomStream& random, BatchItem& item) {
    const Image picture = sample.picture();
    const int size = options.size;
    const double scale =
        random_scale(options, std::min(picture.width, picture.height), random);  // the short side
    Placement at;
    GrayImage labels;
    for (int attempt = 0; attempt < kCropTries; ++attempt) {
      at = random_placement(picture.width, picture.height, scale,
                            {size, options.flip, options.turn}, random);
      labels = place_labels(sample.labels, at, size, kIgnoreLabel);
      if (largest_share(labels) <= options.max_share) break;
    }
    store_pixels(place_picture(picture, at, size), item);
    std::copy(labels.pixels.begin(), labels.pixels.end(), item.labels.begin());
  };
}

Instance place_instance(const Instance& instance, const Placement& at, int size) {
  Instance placed = instance;
  const auto move = [&](double place, double offset, int limit) {
    return std::clamp(place * at.scale - offset, 0.0, static_cast<double>(limit));
  };
  const CocoBox& box = instance.box;
  double left = move(box.x, at.left, at.width), right = move(box.x + box.width, at.left, at.width);
  double top = move(box.y, at.top, at.height), bottom = move(box.y + box.height, at.top, at.height);
  if (at.mirror) {
    std::swap(left, right);
    left = at.width - left;
    right = at.width - right;
  }
  for (int turn = 0; turn < at.turns; ++turn) {
    std::tie(left, right, top, bottom) = std::tuple(top, bottom, size - right, size - left);
  }
  placed.box = {left, top, right - left, bottom - top};
  if (instance.mask.empty() || placed.box.area() <= 0) return placed;
  placed.mask = rle_encode(place_labels(rle_decode(instance.mask), at, size, 0));
  placed.area = static_cast<double>(rle_area(placed.mask));
  // Where the crop cuts an outline, what is left of it may be smaller than what is left of the box.
  const bool cut = box.x * at.scale < at.left || box.y * at.scale < at.top ||
                   (box.x + box.width) * at.scale > at.left + at.width ||
                   (box.y + box.height) * at.scale > at.top + at.height;
  if (cut || placed.area == 0) placed.box = rle_bounds(placed.mask);
  return placed;
}

Transform detection_transform(const DetectionTransformOptions& options) {
  return [options](Sample& sample, RandomStream& random, BatchItem& item) {
    const Image picture = sample.picture();
    const int size = options.size;
    const Placement at =
        random_placement(picture.width, picture.height, detection_scale(options, picture, random),
                         {size, options.flip, options.turn}, random);
    store_pixels(place_picture(picture, at, size), item);
    item.instances.clear();
    for (const Instance& instance : sample.instances) {
      if (instance.crowd) continue;
      Instance placed = place_instance(instance, at, size);
      if (placed.box.width < options.min_side || placed.box.height < options.min_side) continue;
      item.instances.push_back(std::move(placed));
    }
  };
}

}  // namespace addp
