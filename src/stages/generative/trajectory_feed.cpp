#include "stages/generative/trajectory_feed.h"

#include <algorithm>

#include "diffusion/noisy_pixels.h"
#include "machine/machine.h"
#include "machine/precision.h"
#include "nn/kernel/frozen_weights.h"
#include "nn/torch.h"

namespace addp {
namespace {

// Trajectories to learn from are none that `addp generate` makes with the same seed.
std::uint64_t trajectory_seed(std::int64_t seed) {
  return RandomStream(static_cast<std::uint64_t>(seed), "trajectories to distil").next_u64();
}

// [S] times [B, L, C] -> [B * S, L, C]
Tensor by_trajectory(const std::vector<Tensor>& steps) { return at::stack(steps, 1).flatten(0, 1); }

}  // namespace

TrajectoryFeed::TrajectoryFeed(const DistilOptions& options, std::int64_t block, Addp& addp,
                               const Vqgan& tokenizer, std::int64_t classes, const World& world)
    : options_(options),
      block_(block),
      addp_(addp),
      tokenizer_(tokenizer),
      classes_(classes),
      count_(options.train.batch_size / (options.train.accumulate * world.size())),
      first_(world.rank() * count_),
      all_(count_ * world.size()),
      bf16_(bf16_here(options.train.precision)) {}

std::int64_t TrajectoryFeed::steps_per_epoch() const {
  return std::max<std::int64_t>(1, draws_per_round() / options_.train.accumulate);
}

void TrajectoryFeed::seek(std::int64_t step) { draw_ = step * options_.train.accumulate; }

Tensor TrajectoryFeed::classes_of(std::uint64_t seed,
                                  const std::vector<std::uint64_t>& numbers) const {
  if (classes_ == 0) return {};
  const Vocabulary& vocabulary = addp_.config().vocabulary;
  std::vector<std::int64_t> ids;
  for (const std::uint64_t number : numbers) {
    RandomStream stream(seed, "class", 0, number);
    const bool none = stream.chance(0.1);
    const std::int64_t label = stream.integer(0, classes_ - 1);
    ids.push_back(none ? vocabulary.class_position_id() : vocabulary.class_id(label));
  }
  return torch::tensor(ids, torch::kInt64).to(compute_device());
}

TrajectoryStates TrajectoryFeed::run(std::uint64_t seed, const std::vector<std::uint64_t>& numbers,
                                     const SamplerHooks& hooks) const {
  torch::NoGradGuard no_grad;
  const Bf16Scope scope(bf16_);
  const FrozenWeights frozen;
  auto start =
      SamplerStart::nothing(static_cast<std::int64_t>(numbers.size()), addp_.config().grid);
  start.classes = classes_of(seed, numbers);
  std::vector<Tensor> embeddings, encoded;
  SamplerHooks collect = hooks;
  collect.on_step = [&](const SamplerStep& step) {
    if (hooks.on_step) hooks.on_step(step);
    if (step.step + 1 == step.steps) return;  // the encoder does not see the last picture
    embeddings.push_back(step.embeddings.to(torch::kFloat32));
    encoded.push_back(
        addp_.vit()->state_before(block_, encoder_input(step.pixels)).to(torch::kFloat32));
  };
  StreamNoise noise(seed, numbers);
  generate(addp_, tokenizer_, start, options_.sampler, noise, collect);
  return {by_trajectory(embeddings), by_trajectory(encoded)};
}

TrajectoryStates TrajectoryFeed::next() {
  const std::uint64_t seed = trajectory_seed(options_.train.seed);
  const std::int64_t round = draw_ / draws_per_round(), place = draw_ % draws_per_round();
  std::vector<std::uint64_t> numbers;
  for (std::int64_t i = 0; i < count_; ++i) {
    numbers.push_back(static_cast<std::uint64_t>(round * all_ + first_ + i));
  }
  if (round != round_) {
    pool_ = run(seed, numbers);
    round_ = round;
  }
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < count_; ++i) {
    const auto pass = static_cast<std::uint64_t>(place / states());
    const auto order = RandomStream(seed, "order", pass, numbers[static_cast<std::size_t>(i)])
                           .permutation(states());
    rows.push_back(i * states() + order[static_cast<std::size_t>(place % states())]);
  }
  ++draw_;
  const Tensor chosen = torch::tensor(rows, torch::kInt64).to(pool_.encoded.device());
  return {pool_.embeddings.index_select(0, chosen), pool_.encoded.index_select(0, chosen)};
}

}  // namespace addp
