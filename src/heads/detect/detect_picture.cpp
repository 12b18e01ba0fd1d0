#include "heads/detect/detect_picture.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "heads/detect/nms.h"
#include "heads/detect/views.h"
#include "image/draw/draw.h"
#include "image/resize/resize.h"
#include "machine/machine.h"
#include "nn/layer/picture_tensor.h"
#include "nn/layer/pixels.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr std::int64_t kMostPixels = 64'000'000;  // each instance has a mask of as many
constexpr double kLabelShare = 1.5;               // width of a label over that of its box, at most
constexpr int kReadableSide = 256;  // smaller pictures are enlarged before labels cover them

// The value between four cells of a mask, 0 beyond it.
float between_cells(const float* cells, std::int64_t side, float x, float y) {
  const auto left = static_cast<std::int64_t>(std::floor(x)),
             top = static_cast<std::int64_t>(std::floor(y));
  const float fx = x - static_cast<float>(left), fy = y - static_cast<float>(top);
  const auto at = [&](std::int64_t column, std::int64_t row) {
    const bool inside = column >= 0 && row >= 0 && column < side && row < side;
    return inside ? cells[row * side + column] : 0.0F;
  };
  return (1 - fy) * ((1 - fx) * at(left, top) + fx * at(left + 1, top)) +
         fy * ((1 - fx) * at(left, top + 1) + fx * at(left + 1, top + 1));
}

// Where windows of a side begin that cover a length and overlap by a quarter at least.
std::vector<int> window_starts(int length, int side) {
  if (length <= side) return {0};
  const int step = std::max(1, side - side / 4);
  const int count = (length - side + step - 1) / step + 1;
  std::vector<int> starts;
  for (int i = 0; i < count; ++i) {
    starts.push_back(static_cast<int>(std::int64_t{i} * (length - side) / (count - 1)));
  }
  return starts;
}

// What of a length belongs to window i alone: up to the middle of what it shares with its
// neighbours.
struct Share {
  double from, to;
  bool holds(double place) const { return place >= from && place < to; }
};
Share share_of(const std::vector<int>& starts, std::size_t i, int side) {
  constexpr double kOpen = std::numeric_limits<double>::infinity();
  const auto border = [&](std::size_t next) {
    return 0.5 * (starts[next - 1] + side + starts[next]);
  };
  return {i == 0 ? -kOpen : border(i), i + 1 == starts.size() ? kOpen : border(i + 1)};
}

RawDetections select(const RawDetections& found, const Tensor& rows) {
  return {found.boxes.index_select(0, rows), found.scores.index_select(0, rows),
          found.labels.index_select(0, rows), found.masks.index_select(0, rows)};
}

RawDetections detect_window(Detector& detector, const Image& scaled, int left, int top,
                            const DetectorLimits& limits) {
  const auto size = static_cast<int>(detector.config().size);
  const PixelBox part{left, top, std::min(size, scaled.width - left),
                      std::min(size, scaled.height - top)};
  const bool whole = part.width == scaled.width && part.height == scaled.height;
  const Image seen = whole ? scaled : crop(scaled, part);
  const Tensor pixels =
      at::constant_pad_nd(normalise_pixels(to_tensor(seen).unsqueeze(0).to(compute_device())),
                          {0, size - part.width, 0, size - part.height});
  return detector.detect(pixels, limits)[0].to(torch::kCPU);
}

// The things of every window whose middle lies in the window's own share, in pixels of the scaled
// picture. One thing can have its middle a little to the left in one window and a little to the
// right in the next, hence the suppression at the end.
RawDetections detect_in_windows(Detector& detector, const Image& scaled,
                                const DetectorLimits& limits) {
  const auto size = static_cast<int>(detector.config().size);
  const std::vector<int> columns = window_starts(scaled.width, size),
                         rows = window_starts(scaled.height, size);
  std::vector<RawDetections> parts;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t column = 0; column < columns.size(); ++column) {
      RawDetections found = detect_window(detector, scaled, columns[column], rows[row], limits);
      if (columns.size() == 1 && rows.size() == 1) return found;
      const auto offset = torch::tensor({columns[column], rows[row], columns[column], rows[row]});
      found.boxes = found.boxes + offset;
      const Share across = share_of(columns, column, size), down = share_of(rows, row, size);
      std::vector<std::int64_t> own;
      for (std::int64_t i = 0; i < found.boxes.size(0); ++i) {
        const Tensor box = found.boxes[i].contiguous();
        const float* corner = box.const_data_ptr<float>();
        if (across.holds(0.5 * (corner[0] + corner[2])) &&
            down.holds(0.5 * (corner[1] + corner[3]))) {
          own.push_back(i);
        }
      }
      parts.push_back(select(found, torch::tensor(own, torch::kLong)));
    }
  }
  const RawDetections all = joined(parts);
  return select(
      all, batched_nms(all.boxes, all.scores, all.labels, limits.nms).slice(0, 0, limits.count));
}

RawDetections detect_views(Detector& detector, const Image& scaled, const DetectorLimits& limits) {
  if (limits.views <= 1) return detect_in_windows(detector, scaled, limits);
  std::vector<RawDetections> views;
  for (const Mirror& mirror : mirrors(limits.views)) {
    views.push_back(mirrored(detect_in_windows(detector, mirrored(scaled, mirror), limits),
                             scaled.width, scaled.height, mirror));
  }
  return agreed(views, limits);
}

}  // namespace

Rle paste_mask(const Tensor& probabilities, const CocoBox& box, int width, int height) {
  const Tensor values = probabilities.to(torch::kCPU, torch::kFloat).contiguous();
  const float* cells = values.const_data_ptr<float>();
  const std::int64_t side = values.size(0);
  GrayImage mask(width, height);
  const auto first = [](double edge) { return std::max(0, static_cast<int>(std::floor(edge))); };
  const auto last = [](double edge, int limit) {
    return std::min(limit, static_cast<int>(std::ceil(edge)));
  };
  for (int y = first(box.y); y < last(box.y + box.height, height); ++y) {
    const auto v = static_cast<float>((y + 0.5 - box.y) / box.height * double(side) - 0.5);
    for (int x = first(box.x); x < last(box.x + box.width, width); ++x) {
      const auto u = static_cast<float>((x + 0.5 - box.x) / box.width * double(side) - 0.5);
      if (between_cells(cells, side, u, v) >= 0.5F) mask.row(y)[x] = 1;
    }
  }
  return rle_encode(mask);
}

std::vector<Detection> to_picture(const RawDetections& found, int width, int height,
                                  const Image& picture) {
  std::vector<Detection> detections;
  const double across = double(picture.width) / width, down = double(picture.height) / height;
  for (std::int64_t i = 0; i < found.boxes.size(0); ++i) {
    const float* corner = found.boxes[i].const_data_ptr<float>();
    const CocoBox whole{corner[0] * across, corner[1] * down, (corner[2] - corner[0]) * across,
                        (corner[3] - corner[1]) * down};
    const CocoBox inside = clip_box(whole, picture.width, picture.height);
    if (inside.width <= 0 || inside.height <= 0) continue;
    Detection detection;
    detection.class_id = static_cast<int>(found.labels[i].item<std::int64_t>());
    detection.score = found.scores[i].item<double>();
    detection.box = inside;
    // The mask was made for all of the box, also where it reaches beyond the picture.
    detection.mask = paste_mask(found.masks[i], whole, picture.width, picture.height);
    detections.push_back(std::move(detection));
  }
  return detections;
}

std::vector<Detection> detect_picture(Detector& detector, const Image& picture,
                                      const DetectorLimits& limits) {
  if (std::int64_t{picture.width} * picture.height > kMostPixels) {
    throw DataError(
        "a picture of {}x{} pixels is too large, {} million are looked at; make it smaller",
        picture.width, picture.height, kMostPixels / 1'000'000);
  }
  const DetectorConfig& config = detector.config();
  const double scale = config.magnify > 0
                           ? config.magnify
                           : static_cast<double>(config.size) /
                                 static_cast<double>(std::max(picture.width, picture.height));
  const auto side = [&](int length) { return std::max(1, int(std::lround(length * scale))); };
  const int width = side(picture.width), height = side(picture.height);
  const Image scaled = width == picture.width && height == picture.height
                           ? picture
                           : resize(picture, width, height, Resample::kBilinear);
  return to_picture(detect_views(detector, scaled, limits), width, height, picture);
}

DetectionTarget target_of(const std::vector<Instance>& instances, int width, int height) {
  const auto count = static_cast<std::int64_t>(instances.size());
  DetectionTarget target{torch::empty({count, 4}), torch::empty({count}, torch::kLong),
                         torch::zeros({count, height, width}, torch::kUInt8)};
  for (std::int64_t i = 0; i < count; ++i) {
    const Instance& instance = instances[static_cast<std::size_t>(i)];
    const CocoBox& box = instance.box;
    target.boxes[i] = torch::tensor({box.x, box.y, box.x + box.width, box.y + box.height});
    target.labels[i] = instance.class_id;
    const GrayImage mask =
        rle_decode(instance.mask.empty() ? rle_from_box(box, height, width) : instance.mask);
    std::copy(mask.pixels.begin(), mask.pixels.end(), target.masks[i].data_ptr<std::uint8_t>());
  }
  return {target.boxes.to(compute_device()), target.labels.to(compute_device()),
          target.masks.to(compute_device())};
}

Image draw_detections(const Image& picture, const std::vector<Detection>& detections,
                      const std::vector<std::string>& class_names) {
  const int factor = std::max(1, kReadableSide / std::max(picture.width, picture.height));
  Image drawing = resize(picture, factor * picture.width, factor * picture.height);
  for (std::size_t i = detections.size(); i-- > 0;) {  // the best on top
    const Detection& found = detections[i];
    if (!found.mask.empty()) {
      const GrayImage mask = resize_labels(rle_decode(found.mask), drawing.width, drawing.height);
      blend_mask(drawing, mask, distinct_color(static_cast<int>(i)), 0.45F);
    }
  }
  for (std::size_t i = detections.size(); i-- > 0;) {
    const Detection& found = detections[i];
    const Color colour = distinct_color(static_cast<int>(i));
    const PixelBox box{static_cast<int>(factor * found.box.x),
                       static_cast<int>(factor * found.box.y),
                       static_cast<int>(std::ceil(factor * found.box.width)),
                       static_cast<int>(std::ceil(factor * found.box.height))};
    draw_rectangle(drawing, box, colour);
    const std::string label = fmt::format(
        "{} {:.0f}", class_names.at(static_cast<std::size_t>(found.class_id)), 100 * found.score);
    // Labels that are larger than the things would hide the things beside them.
    if (measure_text(label).width <= kLabelShare * box.width) {
      draw_label(drawing, box.left, box.top, label, colour);
    }
  }
  return drawing;
}

CocoAnnotation to_coco(const Detection& detection, std::int64_t image_id,
                       std::int64_t category_id) {
  CocoAnnotation out;
  out.image_id = image_id;
  out.category_id = category_id;
  out.box = detection.box;
  out.area = detection.box.area();
  out.score = detection.score;
  out.mask.runs = detection.mask;
  return out;
}

}  // namespace addp
