// A stage small enough to run hundreds of steps in a test: a line fitted to noisy points.
#pragma once

#include <functional>
#include <limits>
#include <optional>

#include "checkpoint/format/safetensors.h"
#include "model/load.h"
#include "nn/torch.h"
#include "train/stage.h"

namespace addp::testing {

class ToyNetwork : public torch::nn::Module {
 public:
  ToyNetwork() {
    weight = register_parameter("weight", torch::full({2, 3}, 0.5));
    bias = register_parameter("bias", torch::zeros({2}));
  }
  Tensor weight, bias;
};

class ToyStage : public Stage {
 public:
  explicit ToyStage(World& world, std::int64_t poisoned_step = -1)
      : poisoned_step_(poisoned_step),
        learner_("toy", make_adamw(decay_groups(network_, 0.05), {}), {1.0, 0.9}, world) {}

  std::string name() const override { return "toy"; }
  std::vector<Learner*> learners() override { return {&learner_}; }
  std::int64_t steps_per_epoch() const override { return 10; }
  void seek(std::int64_t step) override { sought = step; }

  Metrics step(const StepContext& context) override {
    RandomStream stream = context.stream;
    std::vector<float> values(12);
    stream.fill_normal(values);
    const Tensor x = torch::tensor(values).reshape({4, 3});
    Tensor loss = (x.matmul(network_.weight.t()) + network_.bias - x.sum(1, true)).square().mean();
    if (context.step == poisoned_step_) loss = loss * std::numeric_limits<float>::quiet_NaN();
    learner_.backward(loss, 1, true);
    learner_.update(context.lr);
    if (on_step) on_step(context.step);
    return {{"loss", loss.item<double>()}};
  }

  Metrics evaluate() override {
    if (on_evaluate) on_evaluate();
    return {{"score", score ? *score : -network_.weight.norm().item<double>()}};
  }
  std::vector<Panel> pictures() override { return {{"toy", Image(4, 4)}}; }
  std::pair<std::string, bool> best_figure() const override { return {"score", true}; }

  void save_model(const std::filesystem::path& path, const std::string& provenance) override {
    if (on_save_model) on_save_model();
    write_safetensors(path, state_of(network_), {{"addp.provenance", provenance}});
  }
  TensorMap state() const override { return state_of(network_, {}, "model."); }
  void load_state(const TensorMap& tensors, const std::string& source) override {
    load_strictly(network_, tensors, {.source = source, .prefix = "model."});
  }

  ToyNetwork& network() { return network_; }
  std::int64_t sought = -1;
  std::function<void(std::int64_t)> on_step;
  std::function<void()> on_evaluate, on_save_model;
  std::optional<double> score;  // of every evaluation

 private:
  std::int64_t poisoned_step_;
  ToyNetwork network_;
  Learner learner_;
};

}  // namespace addp::testing
