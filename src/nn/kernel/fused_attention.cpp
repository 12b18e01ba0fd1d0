#include "nn/kernel/fused_attention.h"

#include <ATen/record_function.h>

#include <cmath>

#include "machine/parallel.h"
#include "machine/precision.h"
#include "nn/kernel/dropping_keys.h"
#include "nn/kernel/elements.h"
#include "nn/kernel/simd/attention_kernels.h"
#include "nn/torch.h"

namespace addp {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The heads of a batch, one after the other.
class Heads {
 public:
  Heads(const Tensor& projected, std::int64_t heads, const Dropping& dropping)
      : batch_(projected.size(0)), heads_(heads), length_(projected.size(1)) {
    width_ = projected.size(2) / 3;
    head_ = {.length = length_,
             .width = width_ / heads,
             .row = 3 * width_,
             .out_row = width_,
             .scale = static_cast<float>(1 / std::sqrt(static_cast<double>(width_ / heads))),
             .dropping = dropping};
  }

  // Runs work(head, at, out_at, row, scratch) for each: where its first query and its first result
  // are, and its first row among those of all heads.
  template <class Work>
  void for_each(const Work& work) const {
    for_parts(batch_ * heads_, 1, [&](std::int64_t begin, std::int64_t end) {
      Scratch& scratch = own_scratch();
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t sample = i / heads_, number = i % heads_;
        AttentionHead head = head_;
        head.first_element = i * length_ * length_;
        work(head, sample * length_ * head.row + number * head.width,
             sample * length_ * head.out_row + number * head.width, i * length_, scratch);
      }
    });
  }

  std::int64_t width() const { return width_; }
  Tensor scales() const { return torch::empty({batch_, heads_, length_, 2}); }
  Tensor results(const Tensor& like) const {
    return torch::empty({batch_, length_, width_}, like.options());
  }

 private:
  std::int64_t batch_, heads_, length_, width_ = 0;
  AttentionHead head_;
};

template <class Element>
HeadInputs<Element> inputs_at(const Tensor& projected, std::int64_t at, std::int64_t width) {
  const Element* q = elements<Element>(projected) + at;
  return {q, q + width, q + 2 * width};
}

RowScale* scales_of(const Tensor& scales) { return static_cast<RowScale*>(scales.data_ptr()); }

class FusedAttention : public torch::autograd::Function<FusedAttention> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& projected, std::int64_t heads,
                        const Dropping& dropping) {
    const Heads all(projected, heads, dropping);
    const Tensor out = all.results(projected), scales = all.scales();
    RECORD_FUNCTION("addp::attention", std::vector<c10::IValue>({projected, out}));
    with_elements(projected, [&](auto element) {
      using Element = decltype(element);
      all.for_each([&](const AttentionHead& head, std::int64_t at, std::int64_t out_at,
                       std::int64_t row, Scratch& scratch) {
        attention_head(head, inputs_at<Element>(projected, at, all.width()),
                       elements<Element>(out) + out_at, scales_of(scales) + row, scratch);
      });
    });
    context->save_for_backward({projected, out, scales});
    context->saved_data["heads"] = heads;
    remember(context, dropping);
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list outers) {
    const auto saved = context->get_saved_variables();
    const Tensor projected = saved[0], out = saved[1], scales = saved[2];
    const Tensor outer = outers[0].contiguous(), gradient = torch::empty_like(projected);
    const Heads all(projected, context->saved_data["heads"].toInt(), remembered(context));
    RECORD_FUNCTION("addp::attention backward",
                    std::vector<c10::IValue>({projected, out, outer, gradient}));
    with_elements(projected, [&](auto element) {
      using Element = decltype(element);
      all.for_each([&](const AttentionHead& head, std::int64_t at, std::int64_t out_at,
                       std::int64_t row, Scratch& scratch) {
        Element* q = elements<Element>(gradient) + at;
        attention_head_backward(head, inputs_at<Element>(projected, at, all.width()),
                                elements<const Element>(out) + out_at,
                                elements<const Element>(outer) + out_at, scales_of(scales) + row,
                                {q, q + all.width(), q + 2 * all.width()}, scratch);
      });
    });
    return {gradient, Tensor(), Tensor()};
  }
};

}  // namespace

bool can_mix_heads(const Tensor& projected) {
  return projected.is_cpu() && has_known_elements(projected) && !reference_arithmetic();
}

Tensor mix_heads(const Tensor& projected, std::int64_t heads, double rate, DropoutKeys* keys) {
  const std::int64_t length = projected.size(1);
  const Dropping dropping = next_dropping(rate, keys, projected.size(0) * heads * length * length);
  return FusedAttention::apply(projected.contiguous(), heads, dropping);
}

}  // namespace addp
