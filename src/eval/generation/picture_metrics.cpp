#include "eval/generation/picture_metrics.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr double kDeviation = 1.5;

void check_pictures(const Tensor& a, const Tensor& b, std::int64_t min_side) {
  if (a.dim() != 4 || a.sizes() != b.sizes() || a.size(2) < min_side || a.size(3) < min_side) {
    throw UsageError(
        "pictures of shapes {} and {} cannot be compared: give [B, C, H, W], sides of {} up",
        fmt::join(a.sizes(), "x"), fmt::join(b.sizes(), "x"), min_side);
  }
}

Tensor unit_range(const Tensor& x) {
  return x.scalar_type() == torch::kByte ? x.to(torch::kDouble) / 255
                                         : x.detach().to(torch::kDouble);
}

Tensor gaussian_window() {
  const auto x = torch::arange(kSsimWindow, torch::kDouble) - (kSsimWindow - 1) / 2.0;
  const auto g = torch::exp(-x * x / (2 * kDeviation * kDeviation));
  return g / g.sum();
}

// The window's mean at every place where it fits; `x` is [N, 1, H, W].
Tensor window_mean(const Tensor& x, const Tensor& window) {
  const auto rows = torch::conv2d(x, window.view({1, 1, kSsimWindow, 1}));
  return torch::conv2d(rows, window.view({1, 1, 1, kSsimWindow}));
}

}  // namespace

Tensor psnr(const Tensor& a, const Tensor& b) {
  check_pictures(a, b, 1);
  const auto error = (unit_range(a) - unit_range(b)).pow(2).mean({1, 2, 3});
  return -10 * torch::log10(error);
}

Tensor ssim(const Tensor& a, const Tensor& b) {
  check_pictures(a, b, kSsimWindow);
  const torch::NoGradGuard no_grad;
  const auto window = gaussian_window().to(a.device());
  const std::vector<std::int64_t> planes = {-1, 1, a.size(2), a.size(3)};
  const auto x = unit_range(a).reshape(planes), y = unit_range(b).reshape(planes);
  const auto mx = window_mean(x, window), my = window_mean(y, window);
  const auto vx = window_mean(x * x, window) - mx * mx;
  const auto vy = window_mean(y * y, window) - my * my;
  const auto vxy = window_mean(x * y, window) - mx * my;
  constexpr double c1 = 0.01 * 0.01, c2 = 0.03 * 0.03;
  const auto map =
      (2 * mx * my + c1) * (2 * vxy + c2) / ((mx * mx + my * my + c1) * (vx + vy + c2));
  return map.view({a.size(0), -1}).mean(1);
}

}  // namespace addp
