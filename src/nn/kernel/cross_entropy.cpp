#include "nn/kernel/cross_entropy.h"

#include <ATen/record_function.h>

#include "machine/parallel.h"
#include "machine/precision.h"
#include "nn/kernel/elements.h"
#include "nn/kernel/simd/row_kernels.h"
#include "nn/torch.h"

namespace addp {
namespace {

// The share of the labels in the target.
double label_weight(const SoftTarget& target) {
  if (!target.labels.defined()) return 0;
  return target.probabilities.defined() ? target.label_share : 1;
}

// [N, V]
Tensor dense_target(const SoftTarget& target, std::int64_t classes) {
  const double share = label_weight(target);
  const Tensor& given = target.probabilities.defined() ? target.probabilities : target.labels;
  Tensor dense = torch::zeros({given.size(0), classes},
                              given.options().dtype(torch::kFloat32).requires_grad(false));
  if (target.probabilities.defined()) {
    dense.slice(1, 0, target.probabilities.size(1)).copy_(target.probabilities * (1 - share));
  }
  if (share > 0) {
    const Tensor column = target.labels.unsqueeze(1);
    dense.scatter_add_(1, column, torch::full_like(column, share, dense.options()));
  }
  return dense;
}

// As the released program computes it: classes in the second of three dimensions.
Tensor reference_cross_entropy(const Tensor& logits, const SoftTarget& target, double smoothing) {
  const Tensor wanted = dense_target(target, logits.size(1));
  const Tensor losses =
      at::cross_entropy_loss(logits.t().unsqueeze(0), wanted.t().unsqueeze(0), /*weight=*/{},
                             at::Reduction::None, /*ignore_index=*/-100, smoothing);
  return losses.sum() / static_cast<double>(logits.size(0));
}

// Losses [N] of all rows; fills `gradient` [N, V] with that of their mean, where it is defined.
Tensor fused_rows(const Tensor& logits, const SoftTarget& target, double smoothing,
                  const Tensor& gradient) {
  const std::int64_t rows = logits.size(0), classes = logits.size(1);
  const Tensor q = target.probabilities.defined()
                       ? target.probabilities.to(torch::kFloat32).contiguous()
                       : Tensor();
  const Tensor labels = target.labels.defined() ? target.labels.contiguous() : Tensor();
  const Tensor losses = torch::empty({rows}, torch::kFloat64);
  CrossEntropyRow shared{.classes = classes, .share = label_weight(target), .smoothing = smoothing};
  if (q.defined()) shared.codes = q.size(1);
  RECORD_FUNCTION("addp::cross-entropy", std::vector<c10::IValue>({logits, q, gradient}));
  with_elements(logits, [&](auto element) {
    using Element = decltype(element);
    for_parts(rows, 4, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        CrossEntropyRow row = shared;
        if (q.defined()) row.q = q.const_data_ptr<float>() + i * row.codes;
        if (labels.defined()) row.label = labels.const_data_ptr<std::int64_t>()[i];
        Element* out = gradient.defined() ? elements<Element>(gradient) + i * classes : nullptr;
        losses.data_ptr<double>()[i] = cross_entropy_row(
            row, elements<Element>(logits) + i * classes, out, 1 / static_cast<float>(rows));
      }
    });
  });
  return losses;
}

// The gradient is known after the forward pass, which has the row in cache: softmax, target and
// product with the probabilities never exist as tensors.
class FusedCrossEntropy : public torch::autograd::Function<FusedCrossEntropy> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& logits,
                        const SoftTarget& target, double smoothing) {
    const Tensor rows = logits.contiguous();
    const Tensor gradient = logits.requires_grad() ? torch::empty_like(rows) : Tensor();
    const Tensor losses = fused_rows(rows, target, smoothing, gradient);
    if (gradient.defined()) context->save_for_backward({gradient});
    return losses.mean().to(torch::kFloat32);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list outer) {
    return {context->get_saved_variables()[0] * outer[0], Tensor(), Tensor()};
  }
};

}  // namespace

Tensor lowest_cross_entropy(const SoftTarget& target, std::int64_t classes, double smoothing) {
  const Tensor wanted =
      dense_target(target, classes) * (1 - smoothing) + smoothing / static_cast<double>(classes);
  return -at::xlogy(wanted, wanted).sum(1).mean();
}

Tensor smoothed_cross_entropy(const Tensor& logits, const SoftTarget& target, double smoothing) {
  if (reference_arithmetic() || !logits.is_cpu() || !has_known_elements(logits)) {
    return reference_cross_entropy(logits.to(torch::kFloat32), target, smoothing);
  }
  return FusedCrossEntropy::apply(logits, target, smoothing);
}

}  // namespace addp
