#include "train/optimizer.h"

#include "base/error.h"
#include "model/load.h"
#include "nn/torch.h"

namespace addp {
namespace {

// Copies tensors["name.what"] into `target`.
void restore(const TensorMap& tensors, const std::string& name, Tensor target,
             const std::string& source) {
  const auto it = tensors.find(name);
  if (it == tensors.end()) {
    throw DataError("{}: the optimizer's '{}' is missing; it belongs to another run", source, name);
  }
  const Tensor value = to_torch(it->second);
  if (value.sizes() != target.sizes()) {
    throw DataError("{}: the optimizer's '{}' has another shape; it belongs to another run", source,
                    name);
  }
  torch::NoGradGuard guard;
  target.copy_(value);
}

// What one parameter carries along.
struct Slot {
  std::string name;
  Tensor parameter;
  Tensor first, second;  // moments
  Tensor count;          // steps taken, a float scalar as the fused kernel wants it
};

class AdamW : public Optimizer {
 public:
  AdamW(std::vector<ParamGroup> groups, const AdamWOptions& options)
      : Optimizer(std::move(groups)), options_(options) {
    torch::NoGradGuard guard;
    for (const auto& group : groups_) {
      auto& slots = slots_.emplace_back();
      for (std::size_t i = 0; i < group.parameters.size(); ++i) {
        const Tensor& parameter = group.parameters[i];
        slots.push_back({group.names[i], parameter, torch::zeros_like(parameter),
                         torch::zeros_like(parameter),
                         torch::zeros({}, parameter.options().dtype(torch::kFloat32))});
      }
    }
  }

  void step(double lr) override {
    torch::NoGradGuard guard;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      std::vector<Tensor> parameters, gradients, first, second, counts;
      for (auto& slot : slots_[g]) {
        if (!slot.parameter.grad().defined()) continue;
        slot.count += 1;
        parameters.push_back(slot.parameter);
        gradients.push_back(slot.parameter.grad());
        first.push_back(slot.first);
        second.push_back(slot.second);
        counts.push_back(slot.count);
      }
      if (parameters.empty()) continue;
      at::_fused_adamw_(parameters, gradients, first, second, {}, counts, lr * groups_[g].lr_scale,
                        options_.beta1, options_.beta2, groups_[g].weight_decay, options_.epsilon,
                        /*amsgrad=*/false, /*maximize=*/false);
    }
  }

  TensorMap state() const override {
    TensorMap tensors;
    for (const auto& slots : slots_) {
      for (const auto& slot : slots) {
        tensors[slot.name + ".exp_avg"] = to_view(slot.first);
        tensors[slot.name + ".exp_avg_sq"] = to_view(slot.second);
        tensors[slot.name + ".step"] = to_view(slot.count);
      }
    }
    return tensors;
  }

  void load_state(const TensorMap& tensors, const std::string& source) override {
    for (const auto& slots : slots_) {
      for (const auto& slot : slots) {
        restore(tensors, slot.name + ".exp_avg", slot.first, source);
        restore(tensors, slot.name + ".exp_avg_sq", slot.second, source);
        restore(tensors, slot.name + ".step", slot.count, source);
      }
    }
  }

 private:
  AdamWOptions options_;
  std::vector<std::vector<Slot>> slots_;
};

class Lars : public Optimizer {
 public:
  Lars(std::vector<ParamGroup> groups, const LarsOptions& options)
      : Optimizer(std::move(groups)), options_(options) {
    torch::NoGradGuard guard;
    for (const auto& group : groups_) {
      auto& momenta = momenta_.emplace_back();
      for (const auto& parameter : group.parameters)
        momenta.push_back(torch::zeros_like(parameter));
    }
  }

  void step(double lr) override {
    torch::NoGradGuard guard;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (std::size_t i = 0; i < groups_[g].parameters.size(); ++i) {
        Tensor parameter = groups_[g].parameters[i];
        if (!parameter.grad().defined()) continue;
        momenta_[g][i].mul_(options_.momentum).add_(direction(parameter, groups_[g].weight_decay));
        parameter.sub_(momenta_[g][i], lr * groups_[g].lr_scale);
      }
    }
  }

  TensorMap state() const override {
    TensorMap tensors;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (std::size_t i = 0; i < groups_[g].names.size(); ++i) {
        tensors[groups_[g].names[i] + ".momentum"] = to_view(momenta_[g][i]);
      }
    }
    return tensors;
  }

  void load_state(const TensorMap& tensors, const std::string& source) override {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (std::size_t i = 0; i < groups_[g].names.size(); ++i) {
        restore(tensors, groups_[g].names[i] + ".momentum", momenta_[g][i], source);
      }
    }
  }

 private:
  Tensor direction(const Tensor& parameter, double weight_decay) const {
    Tensor gradient = parameter.grad();
    if (parameter.dim() < 2) return gradient;
    gradient = gradient.add(parameter, weight_decay);
    const Tensor weight_norm = parameter.norm(), gradient_norm = gradient.norm();
    const Tensor ratio =
        torch::where((weight_norm > 0).logical_and(gradient_norm > 0),
                     options_.trust * weight_norm / gradient_norm, torch::ones_like(weight_norm));
    return gradient * ratio;
  }

  LarsOptions options_;
  std::vector<std::vector<Tensor>> momenta_;
};

}  // namespace

void Optimizer::zero_grad() {
  for (auto& group : groups_) {
    for (auto& parameter : group.parameters) parameter.mutable_grad() = Tensor();
  }
}

std::vector<Tensor> Optimizer::parameters() const {
  std::vector<Tensor> all;
  for (const auto& group : groups_) {
    all.insert(all.end(), group.parameters.begin(), group.parameters.end());
  }
  return all;
}

std::unique_ptr<Optimizer> make_adamw(std::vector<ParamGroup> groups, const AdamWOptions& options) {
  return std::make_unique<AdamW>(std::move(groups), options);
}

std::unique_ptr<Optimizer> make_lars(std::vector<ParamGroup> groups, const LarsOptions& options) {
  return std::make_unique<Lars>(std::move(groups), options);
}

}  // namespace addp
