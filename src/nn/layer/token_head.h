// The head that turns features into logits over the vocabulary: linear, GELU, LayerNorm, then the
// product with the token embeddings, which it shares but does not train, plus a bias a token.
#pragma once

#include "nn/layer/layers.h"

namespace addp {

class TokenHead : public torch::nn::Module {
 public:
  TokenHead(std::int64_t inputs, std::int64_t embedding_width, std::int64_t vocabulary);

  // features [..., inputs], embeddings [V, D] -> logits [..., V]. With `count` > 0 only those of
  // the first `count` tokens are computed.
  Tensor forward(const Tensor& features, const Tensor& embeddings, std::int64_t count = 0) const;

 private:
  Tensor bias_;  // [1, 1, V]
  std::shared_ptr<Linear> fc_;
  std::shared_ptr<LayerNorm> ln_;
};

}  // namespace addp
