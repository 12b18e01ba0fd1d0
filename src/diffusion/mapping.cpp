#include "diffusion/mapping.h"

#include "base/error.h"
#include "nn/torch.h"

namespace addp {

Tensor sample_codes(const Tensor& probabilities, const Tensor& uniform) {
  const Tensor cumulative = probabilities.to(torch::kFloat64).cumsum(-1);
  const Tensor total = cumulative.slice(-1, cumulative.size(-1) - 1);  // [B, L, 1]
  const Tensor threshold = uniform.to(torch::kFloat64).unsqueeze(-1) * total;
  const Tensor codes = at::searchsorted(cumulative, threshold, /*out_int32=*/false, /*right=*/true);
  return codes.squeeze(-1).clamp_max(probabilities.size(-1) - 1);
}

Tensor map_to_embeddings(Mapping mapping, const Tensor& probabilities, const Tensor& codebook,
                         const Tensor& uniform) {
  switch (mapping) {
    case Mapping::kWeightedSum:
      return at::matmul(probabilities, codebook);
    case Mapping::kArgMax:
      return at::embedding(codebook, probabilities.argmax(-1));
    case Mapping::kSampling:
      return at::embedding(codebook, sample_codes(probabilities, uniform));
  }
  throw UsageError("there is no mapping function number {}", static_cast<int>(mapping));
}

}  // namespace addp
