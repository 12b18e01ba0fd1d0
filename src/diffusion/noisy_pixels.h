// Token-to-pixel decoding, Eq. (1): x_t of reliable tokens and embeddings for the unreliable ones.
#pragma once

#include "base/random.h"
#include "diffusion/options.h"
#include "nn/types.h"
#include "tokenizer/vqgan.h"

namespace addp {

// What x_t is decoded from, [B, L, D]: the codes of reliable tokens, `unreliable` [B, L, D] where
// masked [B, L] says so; undefined: nothing is unreliable.
Tensor mixed_embeddings(const Vqgan& tokenizer, const Tensor& tokens, const Tensor& masked,
                        const Tensor& unreliable);

// x_t <- VQ-Decoder(z_t (1 - m_t) + f(q(z_t | z_{t+1})) m_t), with q [B, U, K] at the U positions
// that masked [B, L] sets, and f the mapping: [B, 3, H, W], a little outside [0, 1] in places.
// `stream` is for Mapping::kSampling; `first` is the number of the first sample in the batch of all
// processes.
Tensor noisy_pixels(const Vqgan& tokenizer, const Tensor& tokens, const Tensor& masked,
                    const Tensor& q, const Grid& grid, Mapping mapping, const RandomStream& stream,
                    std::int64_t first);

// What the image encoder is given: clamped to [0, 1] and normalised.
Tensor encoder_input(const Tensor& pixels);

}  // namespace addp
