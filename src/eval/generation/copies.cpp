#include "eval/generation/copies.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/error.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr std::int64_t kThumbnail = 16;
constexpr double kNearShare = 0.05;

}  // namespace

Nearest nearest_rows(const Tensor& bank, const Tensor& queries) {
  if (bank.dim() != 2 || bank.size(0) == 0 || queries.dim() != 2 ||
      queries.size(1) != bank.size(1)) {
    throw UsageError("nearest neighbours need rows of equal width");
  }
  constexpr std::int64_t kChunk = 256;
  std::vector<Tensor> distances, indices;
  for (const Tensor& chunk : queries.split(kChunk)) {
    const auto [distance, index] = torch::cdist(chunk, bank).min(1);
    distances.push_back(distance);
    indices.push_back(index);
  }
  return {torch::cat(distances), torch::cat(indices)};
}

Tensor thumbnail_rows(const Tensor& pixels) {
  return torch::adaptive_avg_pool2d(pixels, {kThumbnail, kThumbnail}).flatten(1);
}

Tensor direction_rows(const Tensor& features) {
  const Tensor values = features.to(torch::kFloat32);
  return values / values.norm(2, 1, true).clamp_min(1e-12);
}

namespace {

// The median and its standard error: of n values about sqrt(n) / 2 ranks, either way.
std::pair<double, double> median_of(const Tensor& values) {
  const double rank = 0.5 / std::sqrt(static_cast<double>(values.numel()));
  const auto at = [&](double share) {
    return values.quantile(std::clamp(share, 0.0, 1.0)).item<double>();
  };
  return {at(0.5), 0.5 * (at(0.5 + rank) - at(0.5 - rank))};
}

}  // namespace

CopyFigures compare_distances(const Tensor& generated, const Tensor& held_out) {
  const double limit = held_out.quantile(kNearShare).item<double>();
  CopyFigures figures;
  std::tie(figures.generated, figures.generated_error) = median_of(generated);
  std::tie(figures.held_out, figures.held_out_error) = median_of(held_out);
  figures.near = (generated < limit).to(torch::kFloat32).mean().item<double>();
  return figures;
}

}  // namespace addp
