#include "nn/attention.h"

#include <cmath>

#include "base/error.h"
#include "nn/precision.h"
#include "nn/torch.h"

namespace addp {

Attention::Attention(std::int64_t width, std::int64_t heads, double dropout,
                     double attention_dropout)
    : heads_(heads), dropout_(dropout), attention_dropout_(attention_dropout) {
  if (heads < 1 || width % heads != 0) {
    throw UsageError("a width of {} cannot be split among {} heads: choose a divisor", width,
                     heads);
  }
  qkv_ = register_module("qkv", std::make_shared<Linear>(width, 3 * width));
  proj_ = register_module("proj", std::make_shared<Linear>(width, width));
}

Tensor Attention::forward(const Tensor& x, Noise* noise) const {
  const std::int64_t batch = x.size(0), length = x.size(1), width = x.size(2);
  const auto qkv = qkv_->forward(x)
                       .view({batch, length, 3, heads_, width / heads_})
                       .permute({2, 0, 3, 1, 4})
                       .unbind(0);  // 3 x [B, heads, N, D / heads]
  const Tensor mixed = mix(qkv[0], qkv[1], qkv[2], noise);
  return dropout(proj_->forward(mixed.transpose(1, 2).reshape({batch, length, width})), dropout_,
                 noise);
}

Tensor Attention::mix(const Tensor& q, const Tensor& k, const Tensor& v, Noise* noise) const {
  const bool drops = noise != nullptr && attention_dropout_ > 0;
  if (!drops && !reference_arithmetic()) return at::scaled_dot_product_attention(q, k, v);
  // The fused kernel would draw its dropout from torch's global generator.
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  const Tensor weights = at::matmul(q * scale, k.transpose(-2, -1)).softmax(-1);
  return at::matmul(dropout(weights, attention_dropout_, noise), v);
}

}  // namespace addp
