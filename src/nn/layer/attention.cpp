#include "nn/layer/attention.h"

#include <cmath>

#include "base/error.h"
#include "machine/precision.h"
#include "nn/kernel/fused_attention.h"
#include "nn/layer/rows.h"
#include "nn/torch.h"

namespace addp {

Attention::Attention(std::int64_t width, std::int64_t heads, double dropout)
    : heads_(heads), dropout_(dropout) {
  if (heads < 1 || width % heads != 0) {
    throw UsageError("a width of {} cannot be split among {} heads: choose a divisor", width,
                     heads);
  }
  qkv_ = register_module("qkv", std::make_shared<Linear>(width, 3 * width));
  proj_ = register_module("proj", std::make_shared<Linear>(width, width));
}

Tensor Attention::forward(const Tensor& x, DropoutKeys* keys, const GridAttention* where,
                          const Tensor& rows) const {
  const Tensor input = where ? into_windows(x, *where) : x;
  const std::int64_t batch = input.size(0), length = input.size(1), width = input.size(2);
  const Tensor projected = qkv_->forward(input);  // [B, N, 3 * D]
  Tensor mixed;
  if (can_mix_heads(projected) && !(where && where->rows.defined())) {
    mixed = mix_heads(projected, heads_, dropout_, keys);
  } else {
    const auto qkv = projected.view({batch, length, 3, heads_, width / heads_})
                         .permute({2, 0, 3, 1, 4})
                         .unbind(0);  // 3 x [B, heads, N, D / heads]
    mixed =
        mix(qkv[0], qkv[1], qkv[2], keys, where).transpose(1, 2).reshape({batch, length, width});
  }
  if (where) mixed = out_of_windows(mixed, *where);
  return proj_->forward(pick_rows(mixed, rows));
}

Tensor Attention::mix(const Tensor& q, const Tensor& k, const Tensor& v, DropoutKeys* keys,
                      const GridAttention* where) const {
  const bool drops = keys != nullptr && dropout_ > 0;
  const bool relative = where != nullptr && where->rows.defined();
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  // torch's fused attention would draw dropout from its global generator.
  if (!drops && !relative && !reference_arithmetic()) {
    return at::scaled_dot_product_attention(q, k, v);
  }
  Tensor scores = at::matmul(q * scale, k.transpose(-2, -1));
  if (relative) scores = scores + relative_scores(q, *where);
  return at::matmul(dropout(scores.softmax(-1), dropout_, keys), v);
}

}  // namespace addp
