#include "image/resize/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "image/resize/resize_kernels.h"

namespace addp {
namespace {

double box_filter(double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }

double bilinear_filter(double x) {
  x = std::abs(x);
  return x < 1 ? 1 - x : 0;
}

double bicubic_filter(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

// The weights of one axis: output x sees the input around its centre from + (x + 1/2) scale.
template <double (*Filter)(double)>
void compute_taps(int size, double from, double scale, double filter_support, Taps& taps) {
  const double stretch = std::max(scale, 1.0);
  const double support = filter_support * stretch;
  const auto first_of = [&](double center) {
    return std::max(0, static_cast<int>(center - support + 0.5));
  };
  const auto last_of = [&](double center) {
    return std::min(size, static_cast<int>(center + support + 0.5));
  };
  const std::size_t outputs = taps.first.size();
  for (std::size_t out = 0; out < outputs; ++out) {
    const double center = from + (double(out) + 0.5) * scale;
    taps.count = std::max(taps.count, last_of(center) - first_of(center));
  }
  taps.count = std::max(2, (taps.count + 1) & ~1);
  taps.weight.assign(outputs * std::size_t(taps.count), 0);
  std::vector<double> exact(std::size_t(taps.count));
  for (std::size_t out = 0; out < outputs; ++out) {
    const double center = from + (double(out) + 0.5) * scale;
    const int first = first_of(center), last = last_of(center);
    double sum = 0;
    for (int i = first; i < last; ++i) {
      const double weight = Filter((i - center + 0.5) * (1.0 / stretch));
      exact[std::size_t(i - first)] = weight;
      sum += weight;
    }
    // Near the end the window moves back, so that all taps lie inside the picture.
    taps.first[out] = std::clamp(first, 0, std::max(0, size - taps.count));
    std::int32_t* weight =
        taps.weight.data() + out * std::size_t(taps.count) + (first - taps.first[out]);
    for (int i = 0; i < last - first; ++i) {
      const double share = sum != 0 ? exact[std::size_t(i)] / sum : exact[std::size_t(i)];
      const double scaled = share * (1 << kWeightBits);
      weight[i] = static_cast<std::int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    }
  }
}

Taps make_taps(int size, float from, float to, int outputs, Resample filter) {
  Taps taps;
  taps.first.resize(std::size_t(outputs));
  const double scale = (double(to) - double(from)) / outputs;
  switch (filter) {
    case Resample::kBox:
      compute_taps<box_filter>(size, from, scale, 0.5, taps);
      break;
    case Resample::kBilinear:
      compute_taps<bilinear_filter>(size, from, scale, 1, taps);
      break;
    default:
      compute_taps<bicubic_filter>(size, from, scale, 2, taps);
      break;
  }
  return taps;
}

void reverse_outputs(Taps& taps) {
  std::reverse(taps.first.begin(), taps.first.end());
  const std::size_t room = std::size_t(taps.count);
  std::int32_t* front = taps.weight.data();
  std::int32_t* back = front + taps.weight.size() - room;
  for (; front < back; front += room, back -= room) std::swap_ranges(front, front + room, back);
}

void check_request(int in_width, int in_height, int width, int height, const Box& box) {
  if (width < 1 || height < 1) {
    throw UsageError("cannot resize to {}x{}: both sides must be at least 1", width, height);
  }
  const bool inside = box.left >= 0 && box.top >= 0 && box.right <= float(in_width) &&
                      box.bottom <= float(in_height) && box.left < box.right &&
                      box.top < box.bottom;
  if (!inside) {
    throw UsageError("the box ({}, {}, {}, {}) does not lie inside the {}x{} picture", box.left,
                     box.top, box.right, box.bottom, in_width, in_height);
  }
}

// Rows first_row .. first_row + rows - 1 of the picture, resampled along x, into `out`.
void resample_rows(const Image& image, const Taps& taps, int first_row, int rows,
                   std::uint8_t* out) {
  // The kernels read some bytes more than they need. The last rows, behind which there are not
  // enough (in a narrow picture that is more than one), are copied to where there are.
  const std::size_t in_bytes = std::size_t(image.width) * 3;
  const int last_first = *std::max_element(taps.first.begin(), taps.first.end());
  const std::size_t reach = std::size_t(last_first + taps.count) * 3 + 2;
  const std::size_t pitch = std::max(reach, in_bytes);
  const int copied = std::min(image.height, static_cast<int>((reach - 1) / in_bytes));
  const int first_copied = image.height - copied;
  std::vector<std::uint8_t> copies(std::size_t(copied) * pitch);
  for (int i = 0; i < copied; ++i) {
    std::memcpy(copies.data() + std::size_t(i) * pitch, image.row(first_copied + i), in_bytes);
  }
  const std::size_t out_bytes = taps.first.size() * 3;
  for (int y = 0; y < rows; y += kRowsAtOnce) {
    const std::uint8_t* from[kRowsAtOnce];
    std::uint8_t* to[kRowsAtOnce];
    for (int i = 0; i < kRowsAtOnce; ++i) {
      const int row = std::min(y + i, rows - 1);
      const int source = first_row + row;
      from[i] = source < first_copied ? image.row(source)
                                      : copies.data() + std::size_t(source - first_copied) * pitch;
      to[i] = out + std::size_t(row) * out_bytes;
    }
    best_kernels().rows(from, to, taps);
  }
}

// `rows` begins with row `first_row` of the `size` rows that the taps count.
Image resample_columns(const std::uint8_t* rows, int width, int size, const Taps& taps,
                       int first_row) {
  Image out(width, static_cast<int>(taps.first.size()));
  const std::size_t stride = std::size_t(width) * 3;
  for (int y = 0; y < out.height; ++y) {
    const int first = taps.first[std::size_t(y)];
    best_kernels().column(rows + std::size_t(first - first_row) * stride, stride,
                          taps.weight.data() + std::size_t(y) * std::size_t(taps.count),
                          std::min(taps.count, size - first), out.row(y), stride);
  }
  return out;
}

// Positions accumulate as in Pillow, so that ties round the same way.
std::vector<int> nearest_positions(int size, float from, float to, int outputs) {
  std::vector<int> positions(static_cast<std::size_t>(outputs));
  const double scale = (double(to) - double(from)) / outputs;
  double at = double(from) + scale * 0.5;
  for (int& position : positions) {
    position = std::clamp(static_cast<int>(at), 0, size - 1);
    at += scale;
  }
  return positions;
}

template <int Channels, class Picture>
Picture resize_nearest(const Picture& image, int width, int height, const Box& box) {
  const std::vector<int> xs = nearest_positions(image.width, box.left, box.right, width);
  const std::vector<int> ys = nearest_positions(image.height, box.top, box.bottom, height);
  Picture out(width, height);
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* from = image.row(ys[std::size_t(y)]);
    std::uint8_t* to = out.row(y);
    for (int x = 0; x < width; ++x, to += Channels) {
      std::memcpy(to, from + std::size_t(xs[std::size_t(x)]) * Channels, Channels);
    }
  }
  return out;
}

template <int Channels, class Picture>
Picture crop_picture(const Picture& image, const PixelBox& box) {
  if (box.left < 0 || box.top < 0 || box.width < 1 || box.height < 1 ||
      box.width > image.width - box.left || box.height > image.height - box.top) {
    throw UsageError("the {}x{} crop at ({}, {}) does not lie inside the {}x{} picture", box.width,
                     box.height, box.left, box.top, image.width, image.height);
  }
  Picture out(box.width, box.height);
  const std::size_t bytes = std::size_t(box.width) * Channels;
  for (int y = 0; y < box.height; ++y) {
    std::memcpy(out.row(y), image.row(box.top + y) + std::size_t(box.left) * Channels, bytes);
  }
  return out;
}

}  // namespace

Image resize(const Image& image, int width, int height, Resample filter, const Box& box,
             bool mirror) {
  check_request(image.width, image.height, width, height, box);
  if (filter == Resample::kNearest) {
    Image out = resize_nearest<3>(image, width, height, box);
    if (mirror) flip_horizontally(out);
    return out;
  }
  const bool along_x = width != image.width || box.left != 0 || box.right != float(width);
  const bool along_y = height != image.height || box.top != 0 || box.bottom != float(height);
  if (!along_x) {
    const std::uint8_t* rows = image.pixels.data();
    Image out = image;
    if (along_y) {
      const Taps taps = make_taps(image.height, box.top, box.bottom, height, filter);
      out = resample_columns(rows, width, image.height, taps, 0);
    }
    if (mirror) flip_horizontally(out);
    return out;
  }
  Taps horizontal = make_taps(image.width, box.left, box.right, width, filter);
  if (mirror) reverse_outputs(horizontal);
  if (!along_y) {
    Image out(width, height);
    resample_rows(image, horizontal, 0, height, out.pixels.data());
    return out;
  }
  const Taps vertical = make_taps(image.height, box.top, box.bottom, height, filter);
  const int first_row = vertical.first.front();
  const int end_row = std::min(image.height, vertical.first.back() + vertical.count);
  const std::size_t bytes = std::size_t(end_row - first_row) * std::size_t(width) * 3;
  const auto rows = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
  resample_rows(image, horizontal, first_row, end_row - first_row, rows.get());
  return resample_columns(rows.get(), width, image.height, vertical, first_row);
}

Image resize(const Image& image, int width, int height, Resample filter) {
  return resize(image, width, height, filter, {0, 0, float(image.width), float(image.height)});
}

GrayImage resize_labels(const GrayImage& image, int width, int height, const Box& box) {
  check_request(image.width, image.height, width, height, box);
  return resize_nearest<1>(image, width, height, box);
}

GrayImage resize_labels(const GrayImage& image, int width, int height) {
  return resize_labels(image, width, height, {0, 0, float(image.width), float(image.height)});
}

Image crop(const Image& image, const PixelBox& box) { return crop_picture<3>(image, box); }
GrayImage crop(const GrayImage& image, const PixelBox& box) { return crop_picture<1>(image, box); }

void flip_horizontally(Image& image) {
  for (int y = 0; y < image.height; ++y) {
    std::uint8_t* left = image.row(y);
    std::uint8_t* right = left + (std::size_t(image.width) - 1) * 3;
    for (; left < right; left += 3, right -= 3) std::swap_ranges(left, left + 3, right);
  }
}

void flip_horizontally(GrayImage& image) {
  for (int y = 0; y < image.height; ++y) std::reverse(image.row(y), image.row(y) + image.width);
}

namespace {

template <int Channels, class Picture>
void turn_picture(Picture& image, int turns) {
  for (; turns > 0; --turns) {
    Picture turned(image.height, image.width);
    for (int y = 0; y < image.height; ++y) {
      const std::uint8_t* from = image.row(y);
      for (int x = 0; x < image.width; ++x, from += Channels) {
        std::copy_n(from, Channels,
                    turned.row(image.width - 1 - x) + std::size_t(y) * std::size_t(Channels));
      }
    }
    image = std::move(turned);
  }
}

}  // namespace

void turn_quarters(Image& image, int turns) { turn_picture<3>(image, turns); }
void turn_quarters(GrayImage& image, int turns) { turn_picture<1>(image, turns); }

PixelBox center_box(int width, int height, int size) {
  if (size < 1 || width < size || height < size) {
    throw UsageError("cannot cut {}x{} out of the middle of a {}x{} picture", size, size, width,
                     height);
  }
  // Half a pixel goes to the even side, as Python's round() does.
  return {static_cast<int>(std::nearbyint((width - size) / 2.0)),
          static_cast<int>(std::nearbyint((height - size) / 2.0)), size, size};
}

}  // namespace addp
