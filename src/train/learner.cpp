#include "train/learner.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/load.h"
#include "nn/torch.h"

namespace addp {

Learner::Learner(std::string name, std::unique_ptr<Optimizer> optimizer,
                 const LearnerOptions& options, World& world)
    : name_(std::move(name)), optimizer_(std::move(optimizer)), options_(options) {
  for (const auto& group : optimizer_->groups()) {
    parameters_.insert(parameters_.end(), group.parameters.begin(), group.parameters.end());
    names_.insert(names_.end(), group.names.begin(), group.names.end());
  }
  if (world.size() > 1) reducer_ = std::make_unique<GradientReducer>(world, parameters_);
  if (options_.ema > 0) {
    torch::NoGradGuard guard;
    for (const auto& parameter : parameters_) averages_.push_back(parameter.detach().clone());
  }
}

void Learner::blame(const std::string& what) const {
  torch::NoGradGuard guard;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].isfinite().all().item<bool>()) {
      throw NonFiniteError("{}; the weights of '{}' are not finite", what, names_[i]);
    }
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& gradient = parameters_[i].grad();
    if (gradient.defined() && !gradient.isfinite().all().item<bool>()) {
      throw NonFiniteError("{}; the gradient of '{}' is not finite", what, names_[i]);
    }
  }
  throw NonFiniteError("{}; weights and gradients are finite, so look at the data", what);
}

void Learner::backward(const Tensor& loss, double share, bool last) {
  const Tensor part = loss * share;
  if (reducer_) {
    reducer_->backward(part, last);
  } else {
    part.backward();
  }
  const double value = loss.item<double>();
  if (!std::isfinite(value)) blame(fmt::format("the {} loss is {}", name_, value));
}

double Learner::update(double lr) {
  torch::NoGradGuard guard;
  std::vector<Tensor> gradients;
  for (const auto& parameter : parameters_) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  const Tensor norms = torch::stack(at::_foreach_norm(gradients));
  const double norm = norms.norm().item<double>();
  if (!std::isfinite(norm)) blame(fmt::format("the {} gradient's norm is {}", name_, norm));
  if (options_.clip > 0 && norm > options_.clip) {
    at::_foreach_mul_(gradients, options_.clip / (norm + 1e-6));
  }
  optimizer_->step(lr);
  optimizer_->zero_grad();
  if (averages()) {
    const auto done = static_cast<double>(++updates_);
    const double decay = std::min(options_.ema, (1 + done) / (10 + done));
    at::_foreach_lerp_(averages_, parameters_, 1 - decay);
  }
  return norm;
}

std::map<std::string, Tensor> Learner::averaged() const {
  std::map<std::string, Tensor> tensors;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    tensors[names_[i]] = averages() ? averages_[i] : parameters_[i];
  }
  return tensors;
}

TensorMap Learner::state() const {
  TensorMap tensors;
  for (auto& [name, view] : optimizer_->state()) tensors[name_ + ".optimizer." + name] = view;
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    tensors[name_ + ".ema." + names_[i]] = to_view(averages_[i]);
  }
  if (averages()) tensors[name_ + ".updates"] = to_view(torch::tensor({updates_}));
  return tensors;
}

void Learner::load_state(const TensorMap& tensors, const std::string& source) {
  TensorMap inner;
  const std::string prefix = name_ + ".optimizer.";
  for (const auto& [name, view] : tensors) {
    if (name.starts_with(prefix)) inner[name.substr(prefix.size())] = view;
  }
  optimizer_->load_state(inner, source);
  torch::NoGradGuard guard;
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    const auto it = tensors.find(name_ + ".ema." + names_[i]);
    if (it == tensors.end()) {
      throw DataError("{}: has no averaged weights of '{}'; it belongs to a run without --ema",
                      source, names_[i]);
    }
    averages_[i].copy_(to_torch(it->second));
  }
  const auto updates = tensors.find(name_ + ".updates");
  if (averages() && updates != tensors.end()) {
    updates_ = to_torch(updates->second).item<std::int64_t>();
  }
}

AveragedWeights::AveragedWeights(Learner& learner) {
  if (!learner.averages()) return;
  torch::NoGradGuard guard;
  const auto averaged = learner.averaged();
  for (const auto& group : learner.optimizer().groups()) {
    for (std::size_t i = 0; i < group.names.size(); ++i) {
      Tensor parameter = group.parameters[i];
      parameters_.push_back(parameter);
      trained_.push_back(parameter.detach().clone());
      parameter.copy_(averaged.at(group.names[i]));
    }
  }
}

AveragedWeights::~AveragedWeights() {
  torch::NoGradGuard guard;
  for (std::size_t i = 0; i < parameters_.size(); ++i) parameters_[i].copy_(trained_[i]);
}

}  // namespace addp
