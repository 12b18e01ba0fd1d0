// The processes of a run and what they exchange. Tensors on the CPU travel through gloo, those on
// CUDA through NCCL where libtorch has it. A World of one process does nothing, at once.
//
//   World world(world_from_environment());
//   GradientReducer reducer(world, parameters);
//   reducer.backward(loss);      // every rank's gradients are now the mean over the ranks
//   ...
//   world.finish();              // all ranks, at the orderly end or after an agreed interrupt
//
// All ranks make the same calls in the same order, each from one thread at a time. If a rank is
// lost or ends early, the others throw a RuntimeError that names it, within a minute; a process
// that cannot throw because it is stuck in a collective operation prints the sentence and exits.
#pragma once

#include <torch/types.h>

#include <memory>
#include <string>
#include <vector>

#include "processes/launch.h"

namespace addp {

class World {
 public:
  World();  // a single process
  explicit World(const WorldOptions& options, torch::Device device = torch::kCPU);
  // Without finish() before, the other ranks are told that this one ends early.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_main() const { return rank_ == 0; }

  // In place, on every rank. Sums are the same bits everywhere and in every run of as many ranks.
  void all_reduce_sum(const torch::Tensor& tensor);
  void all_reduce_mean(const torch::Tensor& tensor);
  void broadcast(const torch::Tensor& tensor, int root = 0);
  // The same for many, packed together: a model's parameters and buffers.
  void broadcast(const std::vector<torch::Tensor>& tensors, int root = 0);

  // One small text per rank, to every rank.
  std::vector<std::string> all_gather(const std::string& mine);
  bool any(bool mine);  // true if it is true on some rank: an interrupt, a non-finite loss
  void barrier();

  void check() const;  // throws if a rank is known to be lost
  void finish();       // waits for all ranks; after it, none depends on another

 private:
  friend class GradientReducer;
  struct Group;

  int rank_ = 0, size_ = 1;
  std::unique_ptr<Group> group_;
};

// Averages gradients over the ranks while the backward pass goes on: parameters are packed into
// buckets, and a bucket is on its way as soon as the last of its gradients is there.
//
// The buckets are fixed by the list of parameters, so a resumed run sums in the same order as one
// that was never interrupted. A parameter that no rank used keeps its gradient as it was; one that
// only some ranks used counts as zero on the others.
class GradientReducer {
 public:
  // The parameters must be alike on all ranks and outlive this object.
  GradientReducer(World& world, std::vector<torch::Tensor> parameters);
  ~GradientReducer();
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  // loss.backward(). Without `exchange` the gradients only add up on this rank (the parts of a
  // batch before its last); with it, what has added up is averaged over the ranks. The gradients
  // must be cleared to undefined or kept in place between steps, not replaced by other tensors.
  void backward(const torch::Tensor& loss, bool exchange = true);

 private:
  struct Buckets;

  World& world_;
  std::unique_ptr<Buckets> buckets_;
};

}  // namespace addp
