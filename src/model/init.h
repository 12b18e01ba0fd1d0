// Initial weights, drawn from a random stream: each parameter from a stream of its own name, so
// that its values do not depend on what else the network has.
#pragma once

#include <torch/nn/module.h>

#include "base/random.h"
#include "nn/types.h"

namespace addp {

void fill_normal(const Tensor& out, double deviation, RandomStream stream);
// Normal, cut at two deviations, as is usual for transformers.
void fill_truncated_normal(const Tensor& out, double deviation, RandomStream stream);
void fill_uniform(const Tensor& out, double low, double high, RandomStream stream);

// Initialises every parameter of a network:
//   linear layers            Xavier uniform (Glorot & Bengio 2010), biases 0, as in MAE
//   patch embeddings         the same, as the linear layers they are
//   other convolutions       He et al. 2015, normal, biases 0
//   norms                    weight 1, bias 0
//   embeddings, class and mask tokens, positions   truncated normal, deviation 0.02
//   anything called "bias"   0
void initialise(torch::nn::Module& network, const RandomStream& stream);

}  // namespace addp
