#include "feed/mixing.h"

#include <algorithm>
#include <cmath>

#include "nn/torch.h"

namespace addp {
namespace {

// Marsaglia & Tsang 2000; below 1 by the usual power of a uniform number.
double draw_gamma(double shape, RandomStream& random) {
  if (shape < 1) {
    const double u = 1 - random.uniform();  // (0, 1]
    return draw_gamma(shape + 1, random) * std::pow(u, 1 / shape);
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal();
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    const double u = 1 - random.uniform();
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

// A rectangle of the picture's shape that covers `share` of it before it is clipped.
PixelBox draw_box(double share, int width, int height, RandomStream& random) {
  const double side = std::sqrt(share);
  const auto w = static_cast<int>(width * side), h = static_cast<int>(height * side);
  const auto x = static_cast<int>(random.integer(0, width - 1));
  const auto y = static_cast<int>(random.integer(0, height - 1));
  const int left = std::clamp(x - w / 2, 0, width), right = std::clamp(x + w / 2, 0, width);
  const int top = std::clamp(y - h / 2, 0, height), bottom = std::clamp(y + h / 2, 0, height);
  return {left, top, right - left, bottom - top};
}

// The rows of every picture's partner: [B] int64.
Tensor partners(std::int64_t batch, std::int64_t distance, torch::Device device) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < batch; ++i) {
    const std::int64_t other = i % (2 * distance) < distance ? i + distance : i - distance;
    rows.push_back(other < batch ? other : i);
  }
  return torch::tensor(rows, torch::kInt64).to(device);
}

Tensor partners_of(const Tensor& rows, const MixDraw& draw) {
  return rows.index_select(0, partners(rows.size(0), draw.distance, rows.device()));
}

}  // namespace

double draw_beta(double alpha, RandomStream& random) {
  const double a = draw_gamma(alpha, random), b = draw_gamma(alpha, random);
  return a + b > 0 ? a / (a + b) : 0.5;
}

MixDraw draw_mix(const MixOptions& options, int width, int height, RandomStream& random) {
  if (options.mixup <= 0 && options.cutmix <= 0) return {};
  const bool cut = options.mixup <= 0 || (options.cutmix > 0 && random.chance(0.5));
  const double own = draw_beta(cut ? options.cutmix : options.mixup, random);
  if (!cut) return {.own = own};
  const PixelBox box = draw_box(1 - own, width, height, random);
  const double covered = double(box.width) * box.height / (double(width) * height);
  return {.own = 1 - covered, .box = covered > 0 ? box : PixelBox{}};
}

Tensor mix_pixels(const Tensor& pixels, const MixDraw& draw) {
  if (draw.own >= 1) return pixels;
  const Tensor other = partners_of(pixels, draw);
  if (draw.box.width == 0) return pixels * draw.own + other * (1 - draw.own);
  const auto part = [&](const Tensor& all) {
    return all.slice(2, draw.box.top, draw.box.bottom()).slice(3, draw.box.left, draw.box.right());
  };
  Tensor mixed = pixels.clone();
  part(mixed).copy_(part(other));
  return mixed;
}

Tensor mix_targets(const Tensor& labels, std::int64_t classes, const MixDraw& draw,
                   double smoothing) {
  const Tensor hits = torch::one_hot(labels, classes).to(torch::kFloat32);
  const Tensor mixed = hits * draw.own + partners_of(hits, draw) * (1 - draw.own);
  return mixed * (1 - smoothing) + smoothing / static_cast<double>(classes);
}

Tensor binary_class_loss(const Tensor& logits, const Tensor& targets, double threshold) {
  const Tensor wanted = threshold > 0 ? targets.gt(threshold).to(torch::kFloat32) : targets;
  return torch::binary_cross_entropy_with_logits(logits, wanted);
}

}  // namespace addp
