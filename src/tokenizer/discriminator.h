// The patch discriminator (Isola et al. 2017) that a VQGAN is trained against: one logit for each
// overlapping patch, high for real pictures.
#pragma once

#include <span>
#include <vector>

#include "nn/layer/layers.h"

namespace addp {

struct DiscriminatorConfig {
  std::int64_t channels = 64;  // of the first layer; doubled in each later one, up to eight times
  std::int64_t layers = 3;     // that halve the picture
  // Off where gradients are penalised: a norm would hide how strong a texture is.
  bool normalised = true;
  // Also shows it what is left of the pixels without their surroundings' mean, eight times as
  // strong: grain of a few grey levels would be lost beside the colours.
  bool grain = false;
};

class Discriminator : public torch::nn::Module {
 public:
  explicit Discriminator(const DiscriminatorConfig& config);
  Tensor forward(const Tensor& pixels) const;  // [B, 3, H, W] in [0, 1] -> [B, 1, h, w]

 private:
  bool grain_;
  std::vector<std::shared_ptr<Conv2d>> convs_;
  // GroupNorm where the original has BatchNorm: it does not mix pictures, so that the loss of a
  // batch does not depend on how it is split over processes.
  std::vector<std::shared_ptr<GroupNorm>> norms_;
};

// The hinge loss of a discriminator, and what the generator minimises against it: the means over
// all positions of a map of logits, and over the maps.
Tensor discriminator_loss(std::span<const Tensor> real_logits, std::span<const Tensor> fake_logits);
Tensor generator_loss(std::span<const Tensor> fake_logits);

// Each position against the same position of the picture's pair (Jolicoeur-Martineau 2019, "The
// relativistic discriminator"): how much more real `more` looks than `less`. A discriminator
// minimises it for (real, fake), the generator for (fake, real). A reconstruction shows what its
// picture shows, so that only texture is left to tell them apart.
Tensor paired_loss(std::span<const Tensor> more, std::span<const Tensor> less);

// The squared gradient of a picture's mean logit in its pixels, mean over the pictures (Mescheder
// et al. 2018, "R1"): small steps of the picture may change its logit by small steps only.
Tensor gradient_penalty(const Discriminator& discriminator, const Tensor& pixels);

}  // namespace addp
