#include "nn/dropout.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

namespace addp {

Noise::Noise(RandomStream stream) : generator_(at::detail::createCPUGenerator(stream.next_u64())) {}

Tensor Noise::bernoulli(at::IntArrayRef shape, double keep, const Tensor& like) {
  // Drawn on the CPU whatever the device, so that a seed means the same run everywhere.
  const Tensor drawn = torch::empty(shape, like.options().device(torch::kCPU).requires_grad(false));
  return drawn.bernoulli_(keep, generator_).to(like.device());
}

Tensor dropout(const Tensor& x, double rate, Noise* noise) {
  if (noise == nullptr || rate <= 0) return x;
  return x * noise->bernoulli(x.sizes(), 1 - rate, x).mul_(1 / (1 - rate));
}

Tensor drop_path(const Tensor& branch, double rate, Noise* noise) {
  if (noise == nullptr || rate <= 0) return branch;
  std::vector<std::int64_t> shape(static_cast<std::size_t>(branch.dim()), 1);
  shape[0] = branch.size(0);
  return branch * noise->bernoulli(shape, 1 - rate, branch).div_(1 - rate);
}

}  // namespace addp
