// How many parameters the parts of a model have.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "diffusion/addp.h"
#include "predictor/mage.h"
#include "tokenizer/vqgan_config.h"

namespace addp {

struct ParameterReport {
  std::vector<std::pair<std::string, std::int64_t>> parts;
  // The paper's two numbers, "86M+90M". Its figures (86M, 304M; +90M, +135M) come out when the
  // projection into the decoder counts as the encoder's: 86.4M and 304.4M; then token embeddings,
  // the three sets of positions, blocks and head (59.4M, 104.7M) and the VQ decoder (30.5M) make
  // the second: 89.9M and 135.2M. The VQ encoder, the codebook and the token predictor take no
  // part in generation.
  std::int64_t recognition = 0;
  std::int64_t generation = 0;  // in addition
};

// Builds the networks without touching their memory, so that the largest costs nothing.
ParameterReport parameter_report(const AddpConfig& addp, const VqganConfig& tokenizer,
                                 const MageConfig& predictor);

}  // namespace addp
