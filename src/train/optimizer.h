// AdamW and LARS over groups of named parameters, with a state that can be saved and restored.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "checkpoint/format/tensor.h"
#include "nn/layer/param_groups.h"

namespace addp {

class Optimizer {
 public:
  explicit Optimizer(std::vector<ParamGroup> groups) : groups_(std::move(groups)) {}
  virtual ~Optimizer() = default;

  // One step with the gradients that the parameters hold; those without a gradient stay
  // as they are.
  virtual void step(double lr) = 0;
  void zero_grad();

  const std::vector<ParamGroup>& groups() const { return groups_; }
  std::vector<Tensor> parameters() const;

  // Tensors named "<parameter>.<what>". Loading is strict: a DataError names what does not fit.
  virtual TensorMap state() const = 0;
  virtual void load_state(const TensorMap& tensors, const std::string& source) = 0;

 protected:
  std::vector<ParamGroup> groups_;
};

struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
};

// Loshchilov & Hutter 2019. One fused kernel a group; equal to torch.optim.AdamW.
std::unique_ptr<Optimizer> make_adamw(std::vector<ParamGroup> groups, const AdamWOptions& options);

struct LarsOptions {
  double momentum = 0.9;
  double trust = 0.001;
};

// You et al. 2017, as MAE's linear probing uses it: the trust ratio applies to parameters of two or
// more dimensions only.
std::unique_ptr<Optimizer> make_lars(std::vector<ParamGroup> groups, const LarsOptions& options);

}  // namespace addp
