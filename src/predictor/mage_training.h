// MAGE's own training: a random share of the tokens is masked, half of the positions (all of them
// masked) never enter the encoder, and the loss is on the masked positions.
#pragma once

#include "base/random.h"
#include "predictor/mage.h"

namespace addp {

struct MageMaskOptions {
  double mean = 0.55;  // of the mask ratio, a truncated normal ...
  double deviation = 0.25;
  double lowest = 0.5;  // ... between these; `lowest` is also the share that is dropped
  double highest = 1.0;
};

struct MageMask {
  Tensor masked;  // [B, L] bool
  Tensor kept;    // [B, 1 + L - dropped] int64, positions for the encoder, the class position first

  MageMask to(torch::Device device) const { return {masked.to(device), kept.to(device)}; }
};

// One ratio per batch; the positions of sample i come from a stream of their own. `first` is the
// number of the first sample in the batch of all processes.
MageMask sample_mage_mask(std::int64_t batch, std::int64_t length, const MageMaskOptions& options,
                          const RandomStream& stream, std::int64_t first = 0);

// Cross-entropy of the masked tokens with label smoothing over the whole vocabulary. `classes`
// as in Mage::features().
Tensor mage_loss(const Mage& mage, const Tensor& tokens, const MageMask& mask, const Grid& grid,
                 double label_smoothing, DropoutKeys* keys, const Tensor& classes = {});

}  // namespace addp
