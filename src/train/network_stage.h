// A stage that trains one network with one optimizer. What is left to write is the data, the loss
// of a part of a batch, and what to show of it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "train/stage.h"

namespace addp {

class NetworkStage : public Stage {
 public:
  NetworkStage(const NetworkStage&) = delete;
  NetworkStage& operator=(const NetworkStage&) = delete;

  std::string name() const override { return name_; }
  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::int64_t steps_per_epoch() const override { return steps_per_epoch_(); }
  void seek(std::int64_t step) override { seek_(step); }
  std::pair<std::string, bool> best_figure() const override { return best_; }
  // The parts of a batch one after another, then the update.
  Metrics step(const StepContext& context) override;
  TensorMap state() const override;
  void load_state(const TensorMap& tensors, const std::string& source) override;

 protected:
  struct MicrobatchLoss {
    Tensor loss;
    Metrics metrics{};  // "loss" is added where it is not among them
  };

  // `best` is the figure of an evaluation that chooses the best checkpoint, and whether more of it
  // is better.
  NetworkStage(std::string name, const TrainOptions& options, World& world,
               std::pair<std::string, bool> best)
      : world_(world), name_(std::move(name)), train_(options), best_(std::move(best)) {}

  // Where the data of the steps come from: a member of the stage.
  template <class Feed>
  void take_from(Feed& feed) {
    steps_per_epoch_ = [&feed] { return feed.steps_per_epoch(); };
    seek_ = [&feed](std::int64_t step) { feed.seek(step); };
  }
  // To be called once, by the constructor that has made the network.
  void train_network(std::shared_ptr<torch::nn::Module> network,
                     std::unique_ptr<Optimizer> optimizer);
  // AdamW over `groups`, as the options set it.
  void train_network(std::shared_ptr<torch::nn::Module> network, std::vector<ParamGroup> groups);

  // The loss of the next part of a batch: a mean over samples whose mean over the processes is the
  // loss of the whole part.
  virtual MicrobatchLoss microbatch_loss(const Microbatch& part) = 0;
  // Before every step; evaluations may leave the network in another mode.
  virtual void training_mode() { network_->train(); }

  // Pictures of a part that this process computes at once.
  double pictures_at_once() const;
  // Of a count that a mean is taken over: the mean over the processes, by which to divide.
  double mean_over_processes(double count) const;

  World& world_;

 private:
  std::string name_;
  TrainOptions train_;
  std::pair<std::string, bool> best_;
  std::function<std::int64_t()> steps_per_epoch_;
  std::function<void(std::int64_t)> seek_;
  std::shared_ptr<torch::nn::Module> network_;
  std::unique_ptr<Learner> learner_;
};

}  // namespace addp
