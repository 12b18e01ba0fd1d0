// The mapping function f of Eq. (7): from distributions over codes to embeddings that the VQ
// decoder can take.
#pragma once

#include "diffusion/options.h"
#include "nn/types.h"

namespace addp {

// One code per row from probabilities [B, L, K] (rows need not sum to exactly 1) by inverting the
// cumulative distribution at `uniform` [B, L].
Tensor sample_codes(const Tensor& probabilities, const Tensor& uniform);

// probabilities [B, L, K], codebook [K, D] -> [B, L, D]. `uniform` [B, L] is read
// by kSampling only.
Tensor map_to_embeddings(Mapping mapping, const Tensor& probabilities, const Tensor& codebook,
                         const Tensor& uniform = {});

}  // namespace addp
