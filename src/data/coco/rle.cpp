#include "data/coco/rle.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace addp {
namespace {

void check_size(int height, int width) {
  if (height <= 0 || width <= 0 || std::int64_t{height} * width > kMaxMaskPixels) {
    throw DataError(
        "a mask of {} x {} pixels is impossible; "
        "sides must be positive and at most {} pixels in all",
        width, height, kMaxMaskPixels);
  }
}

// Walks two masks in step: calls visit(length, value of a, value of b) for each stretch in
// which neither changes.
template <class Visit>
void walk_pair(const Rle& a, const Rle& b, Visit&& visit) {
  if (a.height != b.height || a.width != b.width) {
    throw DataError("masks of {} x {} and {} x {} pixels cannot be compared", a.width, a.height,
                    b.width, b.height);
  }
  std::size_t i = 0, j = 0;
  std::uint32_t left_a = a.counts.empty() ? 0 : a.counts[0];
  std::uint32_t left_b = b.counts.empty() ? 0 : b.counts[0];
  while (i < a.counts.size() && j < b.counts.size()) {
    const std::uint32_t step = std::min(left_a, left_b);
    if (step > 0) visit(step, i % 2 == 1, j % 2 == 1);
    left_a -= step;
    left_b -= step;
    if (left_a == 0 && ++i < a.counts.size()) left_a = a.counts[i];
    if (left_b == 0 && ++j < b.counts.size()) left_b = b.counts[j];
  }
}

// Appends runs given as (length, value), joining neighbours of equal value.
class RunWriter {
 public:
  explicit RunWriter(Rle& out) : out_(out) {}
  void add(std::uint32_t length, bool value) {
    const bool next = out_.counts.size() % 2 == 1;  // the value that a new run would have
    if (value != next && !out_.counts.empty()) {
      out_.counts.back() += length;
      return;
    }
    if (value != next) out_.counts.push_back(0);
    out_.counts.push_back(length);
  }

 private:
  Rle& out_;
};

}  // namespace

CocoBox clip_box(const CocoBox& box, int width, int height) {
  const double left = std::clamp<double>(box.x, 0, width),
               top = std::clamp<double>(box.y, 0, height);
  const double right = std::clamp<double>(box.x + box.width, 0, width);
  const double bottom = std::clamp<double>(box.y + box.height, 0, height);
  return {left, top, right - left, bottom - top};
}

Rle rle_encode(const GrayImage& mask) {
  check_size(mask.height, mask.width);
  Rle out{mask.height, mask.width, {}};
  bool current = false;
  std::uint32_t run = 0;
  for (int x = 0; x < mask.width; ++x) {
    for (int y = 0; y < mask.height; ++y) {
      const bool value = mask.row(y)[x] != 0;
      if (value != current) {
        out.counts.push_back(run);
        run = 0;
        current = value;
      }
      ++run;
    }
  }
  out.counts.push_back(run);
  return out;
}

GrayImage rle_decode(const Rle& mask) {
  check_size(mask.height, mask.width);
  GrayImage out(mask.width, mask.height);
  int x = 0, y = 0;
  for (std::size_t i = 0; i < mask.counts.size(); ++i) {
    for (std::uint32_t n = 0; n < mask.counts[i] && x < mask.width; ++n) {
      out.row(y)[x] = static_cast<std::uint8_t>(i % 2);
      if (++y == mask.height) {
        y = 0;
        ++x;
      }
    }
  }
  return out;
}

Rle rle_from_box(const CocoBox& box, int height, int width) {
  const double right = box.x + box.width, bottom = box.y + box.height;
  const Polygon outline{box.x, box.y, box.x, bottom, right, bottom, right, box.y};
  return rle_from_polygons({&outline, 1}, height, width);
}

Rle rle_from_counts(std::span<const std::int64_t> counts, int height, int width) {
  check_size(height, width);
  const std::int64_t pixels = std::int64_t{height} * width;
  Rle out{height, width, {}};
  out.counts.reserve(counts.size());
  std::int64_t sum = 0;
  for (const std::int64_t count : counts) {
    if (count < 0 || count > pixels - sum) {
      throw DataError("run lengths of a mask exceed its {} x {} pixels", width, height);
    }
    sum += count;
    out.counts.push_back(static_cast<std::uint32_t>(count));
  }
  if (sum != pixels) {
    throw DataError("run lengths of a mask sum to {} instead of {} x {} pixels", sum, width,
                    height);
  }
  return out;
}

std::string rle_to_string(const Rle& mask) {
  std::string text;
  for (std::size_t i = 0; i < mask.counts.size(); ++i) {
    std::int64_t value = mask.counts[i];
    if (i > 2) value -= mask.counts[i - 2];
    // Five bits a character, low first; bit 5 says that more follow; the last one's bit 4
    // is the sign.
    for (bool more = true; more;) {
      std::int64_t digit = value & 0x1f;
      value >>= 5;
      more = (digit & 0x10) != 0 ? value != -1 : value != 0;
      if (more) digit |= 0x20;
      text.push_back(static_cast<char>(digit + 48));
    }
  }
  return text;
}

Rle rle_from_string(std::string_view text, int height, int width) {
  std::vector<std::int64_t> counts;
  for (std::size_t at = 0; at < text.size();) {
    std::int64_t value = 0;
    int shift = 0;
    for (bool more = true; more; ++at, shift += 5) {
      if (at >= text.size()) throw DataError("the compressed runs of a mask end too early");
      const int digit = text[at] - 48;
      if (digit < 0 || digit > 63 || shift > 35) {
        throw DataError("'{}' cannot occur in the compressed runs of a mask", text.substr(at, 1));
      }
      value |= std::int64_t{digit & 0x1f} << shift;
      more = (digit & 0x20) != 0;
      if (!more && (digit & 0x10) != 0) value -= std::int64_t{1} << (shift + 5);
    }
    if (counts.size() > 2) value += counts[counts.size() - 2];
    counts.push_back(value);
  }
  return rle_from_counts(counts, height, width);
}

std::int64_t rle_area(const Rle& mask) {
  std::int64_t area = 0;
  for (std::size_t i = 1; i < mask.counts.size(); i += 2) area += mask.counts[i];
  return area;
}

CocoBox rle_bounds(const Rle& mask) {
  if (mask.height <= 0) return {};
  const std::int64_t height = mask.height;
  std::int64_t left = mask.width, top = height, right = -1, bottom = -1, at = 0;
  for (std::size_t i = 0; i < mask.counts.size(); ++i) {
    const std::int64_t first = at, last = at + mask.counts[i] - 1;
    at = last + 1;
    if (i % 2 == 0 || last < first) continue;
    left = std::min(left, first / height);
    right = std::max(right, last / height);
    // A run that wraps into the next column touches both ends.
    const bool one_column = first / height == last / height;
    top = std::min(top, one_column ? first % height : 0);
    bottom = std::max(bottom, one_column ? last % height : height - 1);
  }
  if (right < 0) return {};
  return {static_cast<double>(left), static_cast<double>(top),
          static_cast<double>(right - left + 1), static_cast<double>(bottom - top + 1)};
}

Rle rle_merge(const Rle& a, const Rle& b, RleMerge how) {
  Rle out{a.height, a.width, {}};
  RunWriter writer(out);
  walk_pair(a, b, [&](std::uint32_t length, bool in_a, bool in_b) {
    writer.add(length, how == RleMerge::kUnion ? in_a || in_b : in_a && in_b);
  });
  return out;
}

double rle_iou(const Rle& detection, const Rle& truth, bool crowd) {
  std::int64_t both = 0, either = 0, found = 0;
  walk_pair(detection, truth, [&](std::uint32_t length, bool in_detection, bool in_truth) {
    if (in_detection && in_truth) both += length;
    if (in_detection || in_truth) either += length;
    if (in_detection) found += length;
  });
  if (both == 0) return 0;
  return static_cast<double>(both) / static_cast<double>(crowd ? found : either);
}

double box_iou(const CocoBox& detection, const CocoBox& truth, bool crowd) {
  const double width = std::min(detection.x + detection.width, truth.x + truth.width) -
                       std::max(detection.x, truth.x);
  const double height = std::min(detection.y + detection.height, truth.y + truth.height) -
                        std::max(detection.y, truth.y);
  if (width <= 0 || height <= 0) return 0;
  const double both = width * height;
  return both / (crowd ? detection.area() : detection.area() + truth.area() - both);
}

}  // namespace addp
