#include "stages/generative/codebook_health.h"

#include "nn/torch.h"

namespace addp {

CodebookHealth::CodebookHealth(std::int64_t codes)
    : counts_(torch::zeros({codes}, torch::kInt64)) {}

void CodebookHealth::set_counts(const Tensor& counts) { counts_.copy_(counts); }

std::int64_t CodebookHealth::restart(
    const Tensor& codes, std::int64_t features,
    const std::function<Tensor(const std::vector<std::int64_t>&)>& take, RandomStream stream) {
  torch::NoGradGuard guard;
  const Tensor dead = (counts_ == 0).nonzero().reshape({-1});
  counts_.zero_();
  if (dead.numel() == 0) return 0;
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < dead.numel(); ++i) rows.push_back(stream.integer(0, features - 1));
  codes.index_copy_(0, dead.to(codes.device()), take(rows).to(codes.dtype()));
  return dead.numel();
}

}  // namespace addp
