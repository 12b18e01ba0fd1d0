#include "eval/generation/copies.h"

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

CopyFigures compare_distances(const Tensor& generated, const Tensor& held_out) {
  const double limit = held_out.quantile(kNearShare).item<double>();
  return {generated.quantile(0.5).item<double>(), held_out.quantile(0.5).item<double>(),
          (generated < limit).to(torch::kFloat32).mean().item<double>()};
}

}  // namespace addp
