// A network in evaluation mode for a scope: batch norms use and keep their statistics.
#pragma once

#include <torch/nn/module.h>

namespace addp {

class EvaluationScope {
 public:
  explicit EvaluationScope(torch::nn::Module& network) : network_(network) { network_.eval(); }
  ~EvaluationScope() { network_.train(); }
  EvaluationScope(const EvaluationScope&) = delete;
  EvaluationScope& operator=(const EvaluationScope&) = delete;

 private:
  torch::nn::Module& network_;
};

}  // namespace addp
