#include "stages/generative/adversary.h"

#include "base/error.h"
#include "machine/machine.h"
#include "model/init.h"
#include "model/load.h"
#include "nn/layer/param_groups.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr double kMaxAdaptiveWeight = 1e4;
constexpr const char* kPrefix = "discriminator.model.";
// The penalty costs more than the rest of the discriminator's step: now and then, and more of it.
constexpr std::int64_t kPenaltyEvery = 8;

}  // namespace

Look Look::detached() const {
  Look copy{pixels.detach(), {}};
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (features[i].defined()) copy.features[i] = features[i].detach();
  }
  return copy;
}

Adversary::Adversary(const TokenizerTrainOptions& options, bool with_lpips, World& world)
    : options_(options),
      world_(world),
      both_(std::make_shared<torch::nn::Module>("discriminator")) {
  if (options.discriminator != DiscriminatorKind::kPatch) {
    if (!with_lpips) {
      throw UsageError(
          "--discriminator features looks through LPIPS: give its weights (--lpips, "
          "'addp weights') and a --perceptual above 0");
    }
    heads_ = both_->register_module("heads", std::make_shared<FeatureDiscriminator>(
                                                 Lpips::kChannels, options.discriminator_channels));
  }
  if (options.discriminator != DiscriminatorKind::kFeatures) {
    patch_ = both_->register_module(
        "patch", std::make_shared<Discriminator>(DiscriminatorConfig{
                     options.discriminator_channels, options.discriminator_layers,
                     /*normalised=*/options.gradient_penalty == 0, options.grain}));
  }
  on_device(both_);
  initialise(*both_, initial_weights(options.train, "discriminator"));
  learner_ = std::make_unique<Learner>("discriminator",
                                       make_adamw(decay_groups(*both_, options.train.weight_decay),
                                                  {options.train.beta1, options.train.beta2}),
                                       LearnerOptions{options.train.clip, 0}, world);
}

Adversary::Verdicts Adversary::judge(const Look& look) {
  Verdicts verdicts;
  if (patch_) verdicts.push_back({patch_->forward(look.pixels)});
  if (heads_) verdicts.push_back(heads_->forward(look.features));
  return verdicts;
}

Tensor Adversary::tokenizer_loss(const Look& real, const Look& made) {
  const bool paired = options_.adversarial_loss == AdversarialLoss::kPaired;
  Verdicts beside;
  if (paired) {
    torch::NoGradGuard guard;
    beside = judge(real);
  }
  const Verdicts verdicts = judge(made);
  Tensor sum;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const Tensor one = paired ? paired_loss(verdicts[i], beside[i]) : generator_loss(verdicts[i]);
    sum = sum.defined() ? sum + one : one;
  }
  return sum;
}

Tensor Adversary::own_loss(const Look& real, const Look& made, Metrics& metrics) {
  const Verdicts of_real = judge(real), of_made = judge(made);
  Tensor sum;
  for (std::size_t i = 0; i < of_real.size(); ++i) {
    const Tensor one = options_.adversarial_loss == AdversarialLoss::kPaired
                           ? paired_loss(of_real[i], of_made[i])
                           : discriminator_loss(of_real[i], of_made[i]);
    metrics[i == 0 && patch_ ? "discriminator_patch" : "discriminator_heads"] = one.item<double>();
    sum = sum.defined() ? sum + one : one;
  }
  return sum;
}

Tensor Adversary::adaptive_weight(const Tensor& others, const Tensor& term, const Tensor& last) {
  const auto norm = [&](const Tensor& loss) {
    const Tensor gradient =
        torch::autograd::grad({loss}, {last}, {}, /*retain_graph=*/true)[0].clone();
    world_.all_reduce_mean(gradient);
    return gradient.norm();
  };
  return (norm(others) / (norm(term) + 1e-4)).clamp(0, kMaxAdaptiveWeight).detach();
}

Tensor Adversary::term(const Look& real, const Look& made, const Tensor& others, const Tensor& last,
                       Metrics& metrics) {
  for (auto& parameter : both_->parameters()) parameter.set_requires_grad(false);
  both_->eval();
  const Tensor loss = tokenizer_loss(real, made);
  Tensor weighted = options_.adversarial * loss;
  metrics["adversarial"] = loss.item<double>();
  if (options_.adversarial_loss == AdversarialLoss::kHinge) {
    const Tensor weight = adaptive_weight(others, loss, last);
    metrics["adaptive_weight"] = weight.item<double>();
    weighted = weight * weighted;
  }
  for (auto& parameter : both_->parameters()) parameter.set_requires_grad(true);
  both_->train();
  return weighted;
}

void Adversary::learn(const Look& real, const Look& made, std::int64_t step, double share,
                      bool last_part, Metrics& metrics) {
  const Look fake = made.detached();
  Tensor loss = own_loss(real, fake, metrics);
  if (patch_ && options_.gradient_penalty > 0 && step % kPenaltyEvery == 0) {
    const Tensor penalty =
        gradient_penalty(*patch_, real.pixels) + gradient_penalty(*patch_, fake.pixels);
    loss = loss + options_.gradient_penalty * 0.5 * double(kPenaltyEvery) * penalty;
  }
  learner_->backward(loss, share, last_part);
}

TensorMap Adversary::state() const { return state_of(*both_, {}, kPrefix); }

void Adversary::load_state(const TensorMap& tensors, const std::string& source) {
  load_strictly(*both_, tensors, {.source = source, .prefix = kPrefix});
}

}  // namespace addp
