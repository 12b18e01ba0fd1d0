#include "eval/recognition/knn.h"

#include <algorithm>

#include "base/error.h"
#include "nn/torch.h"

namespace addp {
namespace {

Tensor unit_rows(const Tensor& rows) {
  const Tensor values = rows.to(torch::kFloat32);
  return values / values.norm(2, 1, true).clamp_min(1e-12);
}

}  // namespace

Tensor knn_scores(const Tensor& bank, const Tensor& labels, const Tensor& queries,
                  std::int64_t classes, const KnnOptions& options) {
  if (bank.dim() != 2 || bank.size(0) == 0 || labels.numel() != bank.size(0) ||
      queries.size(1) != bank.size(1)) {
    throw UsageError("nearest neighbours need features of equal width with a label each");
  }
  constexpr std::int64_t kChunk = 256;
  const std::int64_t count = std::min(options.neighbours, bank.size(0));
  const Tensor points = unit_rows(bank).t();  // [D, N]
  std::vector<Tensor> scores;
  for (const Tensor& chunk : unit_rows(queries).split(kChunk)) {
    const auto [cosine, nearest] = chunk.matmul(points).topk(count, 1);  // [m, k]
    const Tensor votes = labels.index_select(0, nearest.flatten()).view_as(nearest);
    scores.push_back(torch::zeros({chunk.size(0), classes}, chunk.options())
                         .scatter_add(1, votes, (cosine / options.temperature).exp()));
  }
  return torch::cat(scores);
}

}  // namespace addp
