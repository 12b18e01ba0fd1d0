#include "heads/detect/views.h"

#include <algorithm>

#include "heads/detect/boxes.h"
#include "image/resize/resize.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr float kSameThing = 0.5F;  // IoU of boxes

// Which view each of all detections is of.
std::vector<std::size_t> views_of(const std::vector<RawDetections>& views) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < views.size(); ++i) {
    numbers.insert(numbers.end(), static_cast<std::size_t>(views[i].boxes.size(0)), i);
  }
  return numbers;
}

using Group = std::vector<std::int64_t>;

// The best that is left, and of every other view what overlaps it most, and so on.
std::vector<Group> groups_of(const RawDetections& all, const std::vector<std::size_t>& view,
                             std::size_t views) {
  const Tensor alike = all.labels.unsqueeze(0) == all.labels.unsqueeze(1);
  const Tensor overlaps = (box_iou(all.boxes, all.boxes) * alike).contiguous();
  const Tensor order = all.scores.argsort(/*stable=*/true, /*dim=*/0, /*descending=*/true);
  const auto count = static_cast<std::int64_t>(view.size());
  std::vector<bool> taken(view.size());
  std::vector<Group> groups;
  for (std::int64_t n = 0; n < count; ++n) {
    const auto best = order[n].item<std::int64_t>();
    if (taken[static_cast<std::size_t>(best)]) continue;
    const float* overlap = overlaps.const_data_ptr<float>() + best * count;
    Group of_view(views, -1);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t& chosen = of_view[view[static_cast<std::size_t>(i)]];
      if (taken[static_cast<std::size_t>(i)] || overlap[i] < kSameThing) continue;
      if (chosen < 0 || overlap[i] > overlap[chosen]) chosen = i;
    }
    of_view[view[static_cast<std::size_t>(best)]] = best;
    std::erase(of_view, -1);
    for (const std::int64_t i : of_view) taken[static_cast<std::size_t>(i)] = true;
    groups.push_back(std::move(of_view));
  }
  return groups;
}

}  // namespace

std::vector<Mirror> mirrors(std::int64_t count) {
  const std::vector<Mirror> all = {{}, {true, false}, {false, true}, {true, true}};
  return {all.begin(), all.begin() + std::min<std::ptrdiff_t>(count, std::ssize(all))};
}

Image mirrored(const Image& picture, const Mirror& mirror) {
  Image image = picture;
  if (mirror.down) turn_quarters(image, 2);
  if (mirror.across != mirror.down) flip_horizontally(image);
  return image;
}

RawDetections mirrored(const RawDetections& found, int width, int height, const Mirror& mirror) {
  RawDetections out = found;
  const auto turn = [&](std::int64_t low, int length, std::int64_t side) {
    std::vector<Tensor> edges = out.boxes.unbind(1);
    const Tensor first = length - edges[static_cast<std::size_t>(low + 2)];
    edges[static_cast<std::size_t>(low + 2)] = length - edges[static_cast<std::size_t>(low)];
    edges[static_cast<std::size_t>(low)] = first;
    out.boxes = at::stack(edges, 1);
    out.masks = out.masks.flip({side});
  };
  if (mirror.across) turn(0, width, 2);
  if (mirror.down) turn(1, height, 1);
  return out;
}

RawDetections agreed(const std::vector<RawDetections>& views, const DetectorLimits& limits) {
  const RawDetections all = joined(views);
  std::vector<Tensor> boxes, scores, labels, masks;
  for (const Group& group : groups_of(all, views_of(views), views.size())) {
    const Tensor rows = torch::tensor(group, torch::kLong);
    const Tensor own = all.scores.index_select(0, rows), weights = own / own.sum();
    const auto mean = [&](const Tensor& of) {
      return at::tensordot(weights, of.index_select(0, rows), {0}, {0});
    };
    boxes.push_back(mean(all.boxes));
    masks.push_back(mean(all.masks));
    scores.push_back(own.sum() / static_cast<double>(views.size()));
    labels.push_back(all.labels[group.front()]);
  }
  if (scores.empty()) return views.front();
  const Tensor means = at::stack(scores);
  Tensor order = means.argsort(/*stable=*/true, /*dim=*/0, /*descending=*/true);
  order =
      order.masked_select(means.index_select(0, order) >= limits.score).slice(0, 0, limits.count);
  const auto ordered = [&](const std::vector<Tensor>& of) {
    return at::stack(of).index_select(0, order);
  };
  return {ordered(boxes), ordered(scores), ordered(labels), ordered(masks)};
}

}  // namespace addp
