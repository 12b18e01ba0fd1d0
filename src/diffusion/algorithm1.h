// Algorithm 1 of the paper: one step of pre-training.
#pragma once

#include "base/random.h"
#include "diffusion/addp.h"
#include "diffusion/mask_schedule.h"
#include "predictor/mage.h"
#include "tokenizer/vqgan.h"

namespace addp {

// What stays frozen while ADDP trains.
struct FrozenNetworks {
  const Vqgan* tokenizer = nullptr;
  const Mage* predictor = nullptr;
};

// q(z_{t-1} | z_t) and q(z_t | z_{t+1}) at the U unreliable positions of z_t, [B, U, K] each. With
// Condition::kSame the first is conditioned on the neighbour z_{t-1} and the second on z_t itself.
struct Predictions {
  Tensor target;      // what the decoder learns; undefined where it was not asked for
  Tensor unreliable;  // what completes the noisy picture
};
enum class Predicted { kBoth, kUnreliable };
Predictions predict_tokens(const Mage& predictor, const Tensor& tokens, const MaskPair& masks,
                           const Grid& grid, Condition condition, DropoutKeys* keys,
                           const Tensor& classes = {}, Predicted wanted = Predicted::kBoth);

// x_t of tokens z_0 for the eye: `ratio` of the positions are unreliable, and what stands there
// comes from the predictor as `options` say. [B, 3, H, W] in about [0, 1].
Tensor noisy_pictures(const FrozenNetworks& frozen, const Tensor& z0, const Grid& grid,
                      double ratio, const DiffusionOptions& options, const RandomStream& stream);

struct PretrainingBatch {
  Tensor z0;  // [B, L], VQ-Encoder(x_0)
  Grid grid;
  Tensor classes{};        // [B] ids for class-conditional networks, else undefined
  std::int64_t first = 0;  // number of the first sample in the batch of all processes
};

struct PretrainingOptions {
  explicit PretrainingOptions(const DiffusionOptions& diffusion_options = {})
      : diffusion(diffusion_options), schedule(diffusion_options.mask) {}

  DiffusionOptions diffusion;
  MaskSchedule schedule;
  bool with_floor = false;  // also compute the least that the loss could be
};

struct PretrainingLoss {
  Tensor value;  // ready for backward()
  Tensor floor;  // undefined where it was not asked for
};

// The loss of one batch. `stream` decides the ratio, the masks and the samples drawn; `dropout` is
// null for evaluation.
PretrainingLoss pretraining_loss(Addp& addp, const FrozenNetworks& frozen,
                                 const PretrainingBatch& batch, const PretrainingOptions& options,
                                 const RandomStream& stream, DropoutKeys* dropout);

}  // namespace addp
