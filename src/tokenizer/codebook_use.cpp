#include "tokenizer/codebook_use.h"

#include "nn/torch.h"

namespace addp {

CodebookUse codebook_use(const Tensor& counts) {
  CodebookUse use;
  use.codes = counts.numel();
  use.used = (counts > 0).sum().item<std::int64_t>();
  const Tensor share = counts.to(torch::kFloat64) / counts.sum().clamp_min(1);
  use.perplexity = (-(share * share.clamp_min(1e-12).log()).sum()).exp().item<double>();
  return use;
}

}  // namespace addp
