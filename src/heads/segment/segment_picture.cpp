#include "heads/segment/segment_picture.h"

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "image/resize/resize.h"
#include "machine/machine.h"
#include "nn/layer/picture_tensor.h"
#include "nn/layer/pixels.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr std::int64_t kWindowsAtOnce = 8;

std::int64_t round_up(std::int64_t length, std::int64_t step) {
  return (length + step - 1) / step * step;
}

// A thin picture of a few pixels across becomes gigantic when its short side is resized.
constexpr double kMostPixels = 1 << 25, kMostEnlarged = 1 << 22;
constexpr double kMostProbabilities = 1 << 30;  // classes times pixels: 4 GiB

void require_room(const Image& picture, double factor, std::int64_t classes) {
  const double area = double(picture.width) * picture.height, worked = area * factor * factor;
  const double most = factor > 1 ? kMostEnlarged : kMostPixels;
  if (worked <= most && std::max(area, worked) * double(classes) <= kMostProbabilities) {
    return;
  }
  throw DataError(
      "a picture of {}x{} pixels, worked on at {:.0f}x{:.0f} for {} classes, is too large; cut it or "
      "make it smaller",
      picture.width, picture.height, picture.width * factor, picture.height * factor, classes);
}

Image scaled_picture(const Image& picture, double factor) {
  const auto side = [&](int length) { return std::max(1, int(std::lround(length * factor))); };
  if (side(picture.width) == picture.width && side(picture.height) == picture.height) {
    return picture;
  }
  return resize(picture, side(picture.width), side(picture.height), Resample::kBilinear);
}

Tensor pad_to(const Tensor& pixels, std::int64_t height, std::int64_t width) {
  return at::constant_pad_nd(pixels, {0, width - pixels.size(3), 0, height - pixels.size(2)});
}

// Logits of normalised pixels [1, 3, H, W] of any size.
Tensor windowed_logits(Segmenter& segmenter, const Tensor& pixels, double overlap) {
  const std::int64_t height = pixels.size(2), width = pixels.size(3);
  const std::int64_t step = segmenter.maps().step(), crop = segmenter.config().size;
  const std::int64_t tall = std::min(round_up(height, step), crop),
                     wide = std::min(round_up(width, step), crop);
  const Tensor padded = pad_to(pixels, std::max(height, tall), std::max(width, wide));
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  for (const std::int64_t top : window_starts(padded.size(2), tall, overlap)) {
    for (const std::int64_t left : window_starts(padded.size(3), wide, overlap)) {
      places.emplace_back(top, left);
    }
  }
  const auto part = [&](const Tensor& map, std::size_t i) {
    return map.slice(2, places[i].first, places[i].first + tall)
        .slice(3, places[i].second, places[i].second + wide);
  };
  Tensor sum = torch::zeros({1, segmenter.config().classes(), padded.size(2), padded.size(3)},
                            padded.options());
  Tensor count = torch::zeros({1, 1, padded.size(2), padded.size(3)}, padded.options());
  for (std::size_t first = 0; first < places.size(); first += kWindowsAtOnce) {
    const std::size_t last = std::min(places.size(), first + kWindowsAtOnce);
    std::vector<Tensor> windows;
    for (std::size_t i = first; i < last; ++i) windows.push_back(part(padded, i));
    const Tensor logits = segmenter.logits(at::cat(windows, 0));
    for (std::size_t i = first; i < last; ++i) {
      part(sum, i).add_(logits[static_cast<std::int64_t>(i - first)]);
      part(count, i).add_(1);
    }
  }
  return (sum / count).slice(2, 0, height).slice(3, 0, width);
}

}  // namespace

std::vector<std::int64_t> window_starts(std::int64_t length, std::int64_t window, double overlap) {
  if (length <= window) return {0};
  const double stride = std::max(1.0, static_cast<double>(window) * (1 - overlap));
  const auto steps =
      static_cast<std::int64_t>(std::ceil(static_cast<double>(length - window) / stride));
  std::vector<std::int64_t> starts;
  for (std::int64_t i = 0; i <= steps; ++i) starts.push_back(i * (length - window) / steps);
  return starts;
}

Tensor class_probabilities(Segmenter& segmenter, const Image& picture,
                           const LabelingOptions& options) {
  if (options.scales.empty()) throw UsageError("no scale to segment at: give 1, or a list");
  torch::NoGradGuard no_grad;
  const double base = options.short_side > 0
                          ? static_cast<double>(options.short_side) /
                                static_cast<double>(std::min(picture.width, picture.height))
                          : 1.0;
  Tensor sum;
  double views = 0;
  for (const double scale : options.scales) {
    require_room(picture, base * scale, segmenter.config().classes());
    const Tensor pixels = normalise_pixels(
        to_tensor(scaled_picture(picture, base * scale)).unsqueeze(0).to(compute_device()));
    for (const bool mirrored : {false, true}) {
      if (mirrored && !options.flip) continue;
      Tensor logits =
          windowed_logits(segmenter, mirrored ? pixels.flip(3) : pixels, options.overlap);
      if (mirrored) logits = logits.flip(3);
      const Tensor share = resize_map(logits, {picture.height, picture.width}).softmax(1);
      sum = sum.defined() ? sum + share : share;
      views += 1;
    }
  }
  return (sum / views)[0];
}

GrayImage segment_picture(Segmenter& segmenter, const Image& picture,
                          const LabelingOptions& options) {
  const Tensor labels = class_probabilities(segmenter, picture, options)
                            .argmax(0)
                            .to(torch::kCPU, torch::kUInt8)
                            .contiguous();
  GrayImage map(picture.width, picture.height);
  std::memcpy(map.pixels.data(), labels.data_ptr<std::uint8_t>(), map.pixels.size());
  return map;
}

}  // namespace addp
