#include "train/network_stage.h"

#include "model/load.h"
#include "nn/torch.h"

namespace addp {
namespace {

// Batch norms learn their running statistics from a process's own pictures: all take the mean of
// them, so that every process has the same network.
void share_statistics(const torch::nn::Module& network, World& world) {
  std::vector<Tensor> statistics;
  for (const Tensor& buffer : network.buffers()) {
    if (buffer.is_floating_point()) statistics.push_back(buffer.flatten());
  }
  if (statistics.empty() || world.size() == 1) return;
  const Tensor all = at::cat(statistics);
  world.all_reduce_mean(all);
  std::int64_t done = 0;
  for (const Tensor& buffer : network.buffers()) {
    if (!buffer.is_floating_point()) continue;
    buffer.copy_(all.narrow(0, done, buffer.numel()).view(buffer.sizes()));
    done += buffer.numel();
  }
}

}  // namespace

void NetworkStage::train_network(std::shared_ptr<torch::nn::Module> network,
                                 std::unique_ptr<Optimizer> optimizer) {
  network_ = std::move(network);
  learner_ = std::make_unique<Learner>(name_, std::move(optimizer),
                                       LearnerOptions{train_.clip, train_.ema}, world_);
}

void NetworkStage::train_network(std::shared_ptr<torch::nn::Module> network,
                                 std::vector<ParamGroup> groups) {
  train_network(std::move(network), make_adamw(std::move(groups), {train_.beta1, train_.beta2}));
}

Metrics NetworkStage::step(const StepContext& context) {
  training_mode();
  const std::int64_t parts = train_.accumulate;
  const double share = 1.0 / static_cast<double>(parts);
  Metrics metrics;
  for (std::int64_t part = 0; part < parts; ++part) {
    MicrobatchLoss made = microbatch_loss(Microbatch::of(context, part));
    learner_->backward(made.loss, share, part + 1 == parts);
    made.metrics.try_emplace("loss", made.loss.item<double>());
    for (const auto& [figure, value] : made.metrics) metrics[figure] += value * share;
  }
  metrics["gradient"] = learner_->update(context.lr);
  share_statistics(*network_, world_);
  return metrics;
}

TensorMap NetworkStage::state() const { return state_of(*network_, {}, name_ + ".model."); }

void NetworkStage::load_state(const TensorMap& tensors, const std::string& source) {
  load_strictly(*network_, tensors, {.source = source, .prefix = name_ + ".model."});
}

double NetworkStage::mean_over_processes(double count) const {
  const Tensor all = torch::tensor({count}, torch::kFloat64);
  world_.all_reduce_mean(all);
  return all.item<double>();
}

double NetworkStage::pictures_at_once() const {
  return static_cast<double>(train_.batch_size) /
         static_cast<double>(train_.accumulate * world_.size());
}

}  // namespace addp
