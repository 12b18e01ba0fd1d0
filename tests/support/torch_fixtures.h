// Fixture tensors for the folders that use libtorch.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/format/safetensors.h"
#include "model/load.h"
#include "nn/torch.h"
#include "support/fixtures.h"

namespace addp::testing {

inline std::map<std::string, torch::Tensor> load_tensors(const std::filesystem::path& path) {
  std::map<std::string, torch::Tensor> tensors;
  for (const auto& [name, view] : read_safetensors(path).tensors) tensors[name] = to_torch(view);
  return tensors;
}

// The largest difference relative to the largest value expected.
inline double relative_error(const torch::Tensor& actual, const torch::Tensor& expected) {
  if (actual.sizes() != expected.sizes()) return INFINITY;
  if (expected.numel() == 0) return 0;
  const auto a = actual.to(torch::kDouble), e = expected.to(torch::kDouble);
  return ((a - e).abs().max() / e.abs().max().clamp_min(1e-30)).item<double>();
}

// A copy in another type whose gradient is kept.
inline torch::Tensor leaf(const torch::Tensor& x, torch::ScalarType type) {
  return x.detach().to(type).clone().requires_grad_();
}

// The weights that the fixtures' README defines: w[i] = sin(0.7 i + 0.3 k) for the k-th key in
// sorted order, scaled by the kind of entry. Integer entries (`num_batches_tracked`) stay.
inline torch::Tensor formula_weight(const std::string& name, std::int64_t k,
                                    const std::vector<std::int64_t>& shape) {
  std::int64_t numel = 1;
  for (const auto size : shape) numel *= size;
  const auto w = torch::sin(0.7 * torch::arange(numel, torch::kDouble) + 0.3 * double(k))
                     .to(torch::kFloat)
                     .view(shape);
  const auto ends = [&name](const char* end) { return name.ends_with(end); };
  if (ends("running_var") || (shape.size() == 1 && ends("weight"))) return 1 + 0.1 * w;
  if (shape.size() == 1) return 0.1 * w;
  return w * std::sqrt(2.0 / (double(numel) / double(shape[0])));
}

}  // namespace addp::testing
