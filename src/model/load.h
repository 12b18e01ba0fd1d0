// Between checkpoint files and networks. Nothing is dropped silently: every name of the file is
// loaded, declared unused, or an error.
#pragma once

#include <torch/nn/module.h>

#include <functional>
#include <string>
#include <vector>

#include "checkpoint/format/tensor.h"
#include "nn/types.h"

namespace addp {

Tensor to_torch(const TensorView& view);      // a copy, contiguous
TensorView to_view(const Tensor& tensor);     // a copy, contiguous, on the CPU
std::string sha256_of(const Tensor& tensor);  // of its numbers

struct LoadRules {
  std::string source{};  // what errors call the file
  // Only names that begin with this are considered. The rest of the file belongs to others.
  std::string prefix{};
  // Patterns (without prefix; '*' stands for any letters) of names that the file may carry although
  // nothing uses them.
  std::vector<std::string> unused{};
  // The file's name (without prefix) of a parameter; by default the same.
  std::function<std::string(const std::string&)> file_name{};
};

struct LoadReport {
  std::size_t loaded = 0;             // parameters and buffers filled
  std::vector<std::string> unused{};  // in the file, and declared as unused by the rules
};

// Fills all parameters and buffers of a network. A DataError lists what is missing, left over or of
// another shape, or names what is not finite; then nothing was changed.
LoadReport load_strictly(torch::nn::Module& network, const TensorMap& tensors,
                         const LoadRules& rules);

// Parameters and buffers under the names of the file.
TensorMap state_of(const torch::nn::Module& network,
                   const std::function<std::string(const std::string&)>& file_name = {},
                   const std::string& prefix = {});

// The square grid behind `length` positions (one of them the class position).
Grid square_grid(std::int64_t length, const std::string& source);

}  // namespace addp
