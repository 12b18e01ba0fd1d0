// What our files need of libtorch, and the one precompiled header. <torch/torch.h> also brings all
// of torch::nn, torch::optim and torch::data, which double the time of every file.
#pragma once

#include <torch/autograd.h>
#include <torch/nn/module.h>
#include <torch/types.h>
#include <torch/utils.h>
