#include "diffusion/noisy_pixels.h"

#include "diffusion/mapping.h"
#include "nn/layer/pixels.h"
#include "nn/layer/rows.h"
#include "nn/torch.h"

namespace addp {
namespace {

// Numbers in [0, 1) for Mapping::kSampling, sample i from a stream of its own: [B, L].
Tensor uniform_draws(Mapping mapping, const Tensor& tokens, const RandomStream& stream,
                     std::int64_t first) {
  if (mapping != Mapping::kSampling) return {};
  const Tensor draws = torch::empty(tokens.sizes(), torch::kFloat32);
  for (std::int64_t i = 0; i < draws.size(0); ++i) {
    const Tensor row = draws[i];
    stream.fork("sampling", static_cast<std::uint64_t>(first + i))
        .fill_uniform({row.data_ptr<float>(), static_cast<std::size_t>(row.numel())});
  }
  return draws.to(tokens.device());
}

}  // namespace

Tensor mixed_embeddings(const Vqgan& tokenizer, const Tensor& tokens, const Tensor& masked,
                        const Tensor& unreliable) {
  const Tensor reliable = at::embedding(tokenizer.codebook(), tokens);  // [B, L, D]
  if (!unreliable.defined()) return reliable;
  return at::where(masked.unsqueeze(2), unreliable.to(reliable.scalar_type()), reliable);
}

Tensor encoder_input(const Tensor& pixels) {
  return normalise_pixels(pixels.to(torch::kFloat32).clamp(0, 1));
}

Tensor noisy_pixels(const Vqgan& tokenizer, const Tensor& tokens, const Tensor& masked,
                    const Tensor& q, const Grid& grid, Mapping mapping, const RandomStream& stream,
                    std::int64_t first) {
  const Tensor positions = positions_of(masked);
  Tensor uniform = uniform_draws(mapping, tokens, stream, first);
  if (uniform.defined()) uniform = uniform.gather(1, positions);
  const Tensor mapped = map_to_embeddings(mapping, q, tokenizer.codebook(), uniform);  // [B, U, D]
  const Tensor codes = at::embedding(tokenizer.codebook(), tokens);                    // [B, L, D]
  return tokenizer.decode(
      to_grid(put_rows(codes, positions, mapped.to(codes.scalar_type())), grid));
}

}  // namespace addp
