#include "heads/detect/nms.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "machine/parallel.h"
#include "nn/torch.h"

namespace addp {
namespace {

using Indices = std::vector<std::int64_t>;

struct Corners {
  float x0, y0, x1, y1;
  float area() const { return (x1 - x0) * (y1 - y0); }
};

// `order` lists the boxes of one class, best first; those that stay are marked in `kept`.
void suppress(const Corners* boxes, const Indices& order, double threshold,
              std::vector<char>& kept) {
  std::vector<char> gone(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (gone[i]) continue;
    kept[std::size_t(order[i])] = 1;
    const Corners best = boxes[order[i]];
    const float best_area = best.area();
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      if (gone[j]) continue;
      const Corners& other = boxes[order[j]];
      const float width = std::min(best.x1, other.x1) - std::max(best.x0, other.x0);
      const float height = std::min(best.y1, other.y1) - std::max(best.y0, other.y0);
      if (width <= 0 || height <= 0) continue;
      const float overlap = width * height;
      gone[j] = double(overlap / (best_area + other.area() - overlap)) > threshold;
    }
  }
}

Indices best_first(const Tensor& scores) {
  const float* score = scores.const_data_ptr<float>();
  Indices order(std::size_t(scores.numel()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [score](auto a, auto b) { return score[a] > score[b]; });
  return order;
}

Tensor nms_by_class(const Tensor& boxes, const Tensor& scores, const std::int64_t* classes,
                    double threshold) {
  if (boxes.dim() != 2 || boxes.size(1) != 4 || scores.dim() != 1 ||
      scores.size(0) != boxes.size(0)) {
    throw UsageError("non-maximum suppression needs boxes [N, 4] and scores [N], not {} and {}",
                     fmt::join(boxes.sizes(), "x"), fmt::join(scores.sizes(), "x"));
  }
  const auto corners = boxes.detach().to(torch::kCPU, torch::kFloat).contiguous();
  const auto values = scores.detach().to(torch::kCPU, torch::kFloat).contiguous();
  // A NaN would break the order that the sort relies on.
  if (values.isnan().any().item<bool>()) {
    throw NonFiniteError("non-maximum suppression was given a score that is not a number");
  }
  const Indices order = best_first(values);
  std::map<std::int64_t, Indices> groups;
  for (const std::int64_t i : order) groups[classes == nullptr ? 0 : classes[i]].push_back(i);
  std::vector<const Indices*> jobs;
  for (const auto& [_, group] : groups) jobs.push_back(&group);

  std::vector<char> kept(order.size());
  const auto* box = reinterpret_cast<const Corners*>(corners.const_data_ptr<float>());
  for_parts(std::int64_t(jobs.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t g = begin; g < end; ++g)
      suppress(box, *jobs[std::size_t(g)], threshold, kept);
  });
  Indices result;
  for (const std::int64_t i : order) {
    if (kept[std::size_t(i)]) result.push_back(i);
  }
  return torch::tensor(result, torch::kLong).to(boxes.device());
}

}  // namespace

Tensor nms(const Tensor& boxes, const Tensor& scores, double threshold) {
  return nms_by_class(boxes, scores, nullptr, threshold);
}

Tensor batched_nms(const Tensor& boxes, const Tensor& scores, const Tensor& classes,
                   double threshold) {
  if (classes.dim() != 1 || classes.size(0) != scores.size(0)) {
    throw UsageError("{} boxes need as many classes, not {}", scores.size(0),
                     fmt::join(classes.sizes(), "x"));
  }
  const auto ids = classes.to(torch::kCPU, torch::kLong).contiguous();
  return nms_by_class(boxes, scores, ids.const_data_ptr<std::int64_t>(), threshold);
}

}  // namespace addp
