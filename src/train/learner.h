// Parameters that are trained together: their optimizer, clipping, averaged weights and, with
// several processes, the reduction of their gradients.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "processes/distributed.h"
#include "train/optimizer.h"
#include "train/schedule.h"

namespace addp {

struct LearnerOptions {
  double clip = 0;  // largest gradient norm; 0: not clipped
  // Decay of the averaged weights; 0: none. It rises to this as (1 + n)/(10 + n) over the updates
  // n, so that the random weights of the start are forgotten in short runs, too.
  double ema = 0;
};

class Learner {
 public:
  // `name` keeps the learners of a stage apart in checkpoints and messages.
  Learner(std::string name, std::unique_ptr<Optimizer> optimizer, const LearnerOptions& options,
          World& world);

  // Adds this part's gradients. The parts of a batch add up to its mean: `share` is the part's
  // share of it, and the `last` one is where processes exchange. A NonFiniteError names the first
  // layer whose weights or gradients are not finite.
  void backward(const Tensor& loss, double share, bool last);
  // Clips, steps and averages; returns the gradient's norm before clipping.
  double update(double lr);

  const std::string& name() const { return name_; }
  Optimizer& optimizer() { return *optimizer_; }
  bool averages() const { return options_.ema > 0; }
  // The averaged weights by parameter name; the weights themselves where there is no average.
  std::map<std::string, Tensor> averaged() const;

  TensorMap state() const;
  void load_state(const TensorMap& tensors, const std::string& source);

 private:
  [[noreturn]] void blame(const std::string& what) const;

  std::string name_;
  std::unique_ptr<Optimizer> optimizer_;
  LearnerOptions options_;
  std::unique_ptr<GradientReducer> reducer_;
  std::vector<Tensor> parameters_, averages_;
  std::vector<std::string> names_;
  std::int64_t updates_ = 0;
};

// Puts a learner's averaged weights into the network for a scope, and the trained ones back.
class AveragedWeights {
 public:
  explicit AveragedWeights(Learner& learner);
  ~AveragedWeights();
  AveragedWeights(const AveragedWeights&) = delete;
  AveragedWeights& operator=(const AveragedWeights&) = delete;

 private:
  std::vector<Tensor> parameters_, trained_;
};

}  // namespace addp
