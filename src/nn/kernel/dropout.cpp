#include "nn/kernel/dropout.h"

#include <bit>

#include "machine/parallel.h"
#include "nn/kernel/simd/row_kernels.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr std::int64_t kGrain = 1 << 15;  // elements worth a thread

// Element 0 of `x` stands at `position` of the batch.
Tensor drop_elements(const Tensor& x, double rate, std::uint64_t key, std::int64_t position) {
  const Tensor in = x.contiguous();
  const Tensor out = torch::empty_like(in);
  const float* from = in.data_ptr<float>();
  float* to = out.data_ptr<float>();
  for_parts(in.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    dropout_span(from + begin, to + begin, position + begin, end - begin, key, rate);
  });
  return out;
}

// Nothing is kept for the backward pass but key and position.
class DropElements : public torch::autograd::Function<DropElements> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, double rate,
                        std::int64_t key, std::int64_t position) {
    context->saved_data["rate"] = rate;
    context->saved_data["key"] = key;
    context->saved_data["position"] = position;
    return drop_elements(x, rate, std::bit_cast<std::uint64_t>(key), position);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto key = std::bit_cast<std::uint64_t>(context->saved_data["key"].toInt());
    return {drop_elements(gradients[0], context->saved_data["rate"].toDouble(), key,
                          context->saved_data["position"].toInt()),
            Tensor(), Tensor(), Tensor()};
  }
};

// Zeros, and 1 / (1 - rate) where an element is kept. Which ones follows from the key; a CUDA
// device draws them by itself: others than the CPU would, and others for each share of a batch.
Tensor keep_factors(at::IntArrayRef shape, double rate, DropoutKeys& keys, const Tensor& like) {
  const std::uint64_t key = keys.next_key();
  if (like.is_cuda()) {
    at::Generator generator = at::globalContext().defaultGenerator(like.device()).clone();
    generator.set_current_seed(key + static_cast<std::uint64_t>(keys.first()));
    return torch::empty(shape, like.options().requires_grad(false))
        .bernoulli_(1 - rate, generator)
        .div_(1 - rate);
  }
  const Tensor ones = torch::ones(shape, torch::kFloat32);
  return drop_elements(ones, rate, key, keys.position_of(ones.numel()))
      .to(like.device(), like.scalar_type());
}

}  // namespace

Tensor dropout(const Tensor& x, double rate, DropoutKeys* keys) {
  if (keys == nullptr || rate <= 0) return x;
  if (x.is_cpu() && x.scalar_type() == torch::kFloat32) {
    return DropElements::apply(x, rate, std::bit_cast<std::int64_t>(keys->next_key()),
                               keys->position_of(x.numel()));
  }
  return x * keep_factors(x.sizes(), rate, *keys, x);
}

Tensor drop_path(const Tensor& branch, double rate, DropoutKeys* keys) {
  if (keys == nullptr || rate <= 0) return branch;
  std::vector<std::int64_t> shape(static_cast<std::size_t>(branch.dim()), 1);
  shape[0] = branch.size(0);
  return branch * keep_factors(shape, rate, *keys, branch);
}

}  // namespace addp
