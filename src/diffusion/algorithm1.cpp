#include "diffusion/algorithm1.h"

#include "diffusion/addp_loss.h"
#include "diffusion/noisy_pixels.h"
#include "nn/layer/rows.h"
#include "nn/torch.h"

namespace addp {

Tensor noisy_pictures(const FrozenNetworks& frozen, const Tensor& z0, const Grid& grid,
                      double ratio, const DiffusionOptions& options, const RandomStream& stream) {
  constexpr double kStep = 0.04;  // about the mean distance of m_{t+1} in training
  const MaskPair masks =
      sample_masks(z0.size(0), z0.size(1), {ratio, std::min(1.0, ratio + kStep)}, stream)
          .to(z0.device());
  const Predictions q = predict_tokens(*frozen.predictor, z0, masks, grid, options.condition,
                                       nullptr, {}, Predicted::kUnreliable);
  return noisy_pixels(*frozen.tokenizer, z0, masks.current, q.unreliable, grid, options.mapping,
                      stream, 0);
}

Predictions predict_tokens(const Mage& predictor, const Tensor& tokens, const MaskPair& masks,
                           const Grid& grid, Condition condition, DropoutKeys* keys,
                           const Tensor& classes, Predicted wanted) {
  const Tensor places = positions_of(masks.current);
  const auto given = [&](const Tensor& masked) {
    return predictor.distribution(tokens, masked, grid, keys, classes, places);
  };
  const bool next = condition == Condition::kNext;
  Predictions q;
  if (wanted == Predicted::kBoth) q.target = given(next ? masks.current : masks.neighbour);
  q.unreliable = given(next ? masks.neighbour : masks.current);
  return q;
}

PretrainingLoss pretraining_loss(Addp& addp, const FrozenNetworks& frozen,
                                 const PretrainingBatch& batch, const PretrainingOptions& wanted,
                                 const RandomStream& stream, DropoutKeys* dropout) {
  const auto& [z0, grid, classes, first] = batch;
  const DiffusionOptions& options = wanted.diffusion;
  // sample t; sample m_t and m_{t+1}
  const RatioPair ratios = wanted.schedule.sample(options.condition, stream.fork("ratio"));
  const MaskPair masks =
      sample_masks(z0.size(0), z0.size(1), ratios, stream.fork("masks"), first).to(z0.device());
  const ReliableTokens z_t{z0, masks.current, grid, classes};

  Tensor q_target, x_t;
  {
    torch::NoGradGuard frozen_networks;
    // q(z_{t-1} | z_t), q(z_t | z_{t+1}) <- Token-Predictor(z_t), Token-Predictor(z_{t+1})
    const Predictions q = predict_tokens(
        *frozen.predictor, z0, masks, grid, options.condition,
        options.predictor_dropout ? dropout : nullptr, classes,
        options.target == Target::kTruth ? Predicted::kUnreliable : Predicted::kBoth);
    q_target = q.target;
    // x_t <- VQ-Decoder(z_t (1 - m_t) + f(q(z_t | z_{t+1})) m_t)
    x_t = noisy_pixels(*frozen.tokenizer, z0, z_t.masked, q.unreliable, grid, options.mapping,
                       stream, first);
  }
  // e_t <- Encoder(x_t)
  const Tensor e_t = addp.encode(encoder_input(x_t), z_t, dropout);
  // z_{t-1} <- Decoder(e_t (1 - m_t) + e_mask m_t)
  const Tensor decoded = addp.decode(e_t, z_t, dropout);
  // L_t <- CE(q(z_{t-1} | z_t), z_{t-1}) m_t
  PretrainingLoss loss;
  loss.value = addp_loss(addp, decoded, z_t, q_target, options.target, options.label_smoothing);
  if (wanted.with_floor) {
    loss.floor = addp_loss_floor(addp, z_t, q_target, options.target, options.label_smoothing);
  }
  return loss;
}

}  // namespace addp
