#include "nn/layer/token_head.h"

#include "nn/torch.h"

namespace addp {

TokenHead::TokenHead(std::int64_t inputs, std::int64_t embedding_width, std::int64_t vocabulary)
    : bias_(register_parameter("bias", torch::empty({1, 1, vocabulary}))),
      fc_(register_module("fc", std::make_shared<Linear>(inputs, embedding_width))),
      ln_(register_module("ln", std::make_shared<LayerNorm>(embedding_width, 1e-5))) {}

Tensor TokenHead::forward(const Tensor& features, const Tensor& embeddings,
                          std::int64_t count) const {
  const Tensor h = ln_->for_product(fc_->gelu(features));
  const std::int64_t rows = count > 0 ? count : embeddings.size(0);
  return at::linear(h, embeddings.detach().slice(0, 0, rows), bias_.flatten().slice(0, 0, rows));
}

}  // namespace addp
