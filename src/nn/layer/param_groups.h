// Which parameters an optimizer treats alike.
#pragma once

#include <torch/nn/module.h>

#include <functional>
#include <string>
#include <vector>

#include "nn/types.h"

namespace addp {

struct ParamGroup {
  double lr_scale = 1;  // times the learning rate of the schedule
  double weight_decay = 0;
  std::vector<std::string> names;  // as in checkpoints
  std::vector<Tensor> parameters;
};

// Two groups: weight decay on parameters of two or more dimensions, none on the others.
std::vector<ParamGroup> decay_groups(const torch::nn::Module& network, double weight_decay);

// Layer-wise decay (Clark et al. 2020; BEiT) of an image classifier over a ViT of `depth` blocks:
// the embeddings are layer 0, block i is layer i + 1, what follows is layer depth + 1, and a
// layer's rate is decay^(depth + 1 - layer). Class token and position embeddings have no weight
// decay. `checkpoint_name` gives a parameter's name in checkpoints ("blocks.3.attn.qkv.weight").
std::vector<ParamGroup> layer_decay_groups(
    const torch::nn::Module& network, std::int64_t depth, double decay, double weight_decay,
    const std::function<std::string(const std::string&)>& checkpoint_name);

}  // namespace addp
