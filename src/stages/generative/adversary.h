// The other side of the tokenizer's training: discriminators that learn to tell reconstructions
// from pictures, and what the tokenizer minimises against them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "eval/generation/lpips.h"
#include "stages/generative/tokenizer_options.h"
#include "tokenizer/discriminator.h"
#include "tokenizer/feature_discriminator.h"
#include "train/learner.h"
#include "train/stage.h"

namespace addp {

// Pictures as the discriminators see them.
struct Look {
  Tensor pixels;             // [B, 3, H, W] in [0, 1]
  Lpips::Features features;  // undefined where there is no LPIPS

  Look detached() const;
};

class Adversary {
 public:
  Adversary(const TokenizerTrainOptions& options, bool with_lpips, World& world);

  // The tokenizer's part. `others` are its other losses and `last` the decoder's last weights: the
  // hinge is weighed so that both have gradients of one size there, those of the whole batch.
  Tensor term(const Look& real, const Look& made, const Tensor& others, const Tensor& last,
              Metrics& metrics);
  // Adds the gradients of a part of a batch; see Learner::backward.
  void learn(const Look& real, const Look& made, std::int64_t step, double share, bool last_part,
             Metrics& metrics);

  Learner& learner() { return *learner_; }
  TensorMap state() const;
  void load_state(const TensorMap& tensors, const std::string& source);

 private:
  // Logits of each discriminator that there is.
  using Verdicts = std::vector<std::vector<Tensor>>;
  Verdicts judge(const Look& look);
  // The mean over a discriminator's logits, summed over the discriminators.
  Tensor tokenizer_loss(const Look& real, const Look& made);
  Tensor own_loss(const Look& real, const Look& made, Metrics& metrics);
  Tensor adaptive_weight(const Tensor& others, const Tensor& term, const Tensor& last);

  TokenizerTrainOptions options_;
  World& world_;
  std::shared_ptr<torch::nn::Module> both_;  // the parent of the next two
  std::shared_ptr<Discriminator> patch_;
  std::shared_ptr<FeatureDiscriminator> heads_;
  std::unique_ptr<Learner> learner_;
};

}  // namespace addp
