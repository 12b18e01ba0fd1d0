#include "diffusion/noisy_pixels.h"

#include "nn/layer/pixels.h"
#include "nn/torch.h"

namespace addp {

Tensor decode_noisy(const Vqgan& tokenizer, const Tensor& tokens, const Tensor& masked,
                    const Tensor& unreliable, const Grid& grid) {
  const Tensor reliable = at::embedding(tokenizer.codebook(), tokens);  // [B, L, D]
  const Tensor mixed =
      at::where(masked.unsqueeze(2), unreliable.to(reliable.scalar_type()), reliable);
  return tokenizer.decode(to_grid(mixed, grid));
}

Tensor encoder_input(const Tensor& pixels) {
  return normalise_pixels(pixels.to(torch::kFloat32).clamp(0, 1));
}

}  // namespace addp
