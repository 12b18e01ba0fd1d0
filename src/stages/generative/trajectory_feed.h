// What `addp distil` learns from: the states of a model's own trajectories, sampled exactly.
//
// Sample i of a part of a batch draws from trajectory i, one of its states after the other in an
// order of its own, `passes` times; then all trajectories are made anew. So a process makes the
// trajectories of its own samples only, the result does not depend on the number of processes, and
// any step can be begun with: its trajectories are made again.
#pragma once

#include <vector>

#include "generate/sampler.h"
#include "processes/distributed.h"
#include "stages/generative/distil_options.h"

namespace addp {

// States in the order of the trajectories, then of the steps.
struct TrajectoryStates {
  Tensor embeddings;  // [N, L, D], what x_t is decoded from
  Tensor encoded;     // [N, 1 + L, P], what enters one of the encoder's blocks of x_t
};

class TrajectoryFeed {
 public:
  // `block` is the encoder's block whose input is wanted, `classes` are those the model knows;
  // every tenth trajectory has none.
  TrajectoryFeed(const DistilOptions& options, std::int64_t block, Addp& addp,
                 const Vqgan& tokenizer, std::int64_t classes, const World& world);

  std::int64_t states() const { return options_.sampler.steps - 1; }  // of a trajectory
  std::int64_t steps_per_epoch() const;  // those that use the same trajectories
  void seek(std::int64_t step);
  TrajectoryStates next();

  // Trajectories of pictures `numbers` of a seed, and what else happens in them.
  TrajectoryStates run(std::uint64_t seed, const std::vector<std::uint64_t>& numbers,
                       const SamplerHooks& hooks = {}) const;
  // [B] ids of the vocabulary; undefined: the model knows no classes.
  Tensor classes_of(std::uint64_t seed, const std::vector<std::uint64_t>& numbers) const;

 private:
  std::int64_t draws_per_round() const { return options_.passes * states(); }

  DistilOptions options_;
  std::int64_t block_;
  Addp& addp_;
  const Vqgan& tokenizer_;
  std::int64_t classes_;
  std::int64_t count_, first_;  // of the samples of a part: this process's, and the first of them
  std::int64_t all_;            // over all processes
  bool bf16_;
  std::int64_t draw_ = 0, round_ = -1;
  TrajectoryStates pool_;
};

}  // namespace addp
