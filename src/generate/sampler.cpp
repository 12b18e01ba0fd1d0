#include "generate/sampler.h"

#include "base/error.h"
#include "diffusion/mapping.h"
#include "diffusion/noisy_pixels.h"
#include "nn/torch.h"

namespace addp {
namespace {

// The same number of masked tokens in every sample, or a UsageError.
std::int64_t unknown_tokens(const SamplerStart& start) {
  const Tensor counts = start.masked.sum(1);
  const std::int64_t first = counts[0].item<std::int64_t>();
  if ((counts != first).any().item<bool>()) {
    throw UsageError(
        "the pictures of a batch must have the same number of masked tokens: give them "
        "one by one");
  }
  return first;
}

void stop_if_cancelled(const SamplerHooks& hooks, std::int64_t step) {
  if (hooks.cancelled && hooks.cancelled()) {
    throw InterruptedError("sampling was cancelled before step {}", step + 1);
  }
}

double temperature_at(std::int64_t step, const SamplerOptions& options) {
  if (options.temperature_curve == TemperatureCurve::kConstant) return options.temperature;
  return options.temperature *
         (1 - static_cast<double>(step + 1) / static_cast<double>(options.steps));
}

// Draws candidates for state.step from state.logits and decides which of them become reliable.
// Returns the probabilities, [B, L, K].
Tensor advance(SamplerStep& state, std::int64_t unknown, const SamplerOptions& options,
               SamplerNoise& noise) {
  const Tensor probabilities = state.logits.softmax(-1, torch::kFloat32);
  state.drawn = noise.draw(state.step, keep_top_p(probabilities, options.top_p));
  state.tokens = at::where(state.masked, state.drawn, state.tokens);
  const Tensor chosen = probabilities.gather(2, state.drawn.unsqueeze(2)).squeeze(2).log();
  const Tensor gumbel =
      noise.gumbel(state.step, chosen.size(0), chosen.size(1)).to(chosen.device());
  state.masked = least_confident(chosen, gumbel, temperature_at(state.step, options), state.masked,
                                 still_masked(unknown, state.step, options));
  return probabilities;
}

Tensor mapped(Mapping mapping, const Tensor& probabilities, const Vqgan& tokenizer,
              std::int64_t step, SamplerNoise& noise) {
  Tensor uniform;
  if (mapping == Mapping::kSampling) {
    uniform = noise.uniform(step, probabilities.size(0), probabilities.size(1));
  }
  return map_to_embeddings(mapping, probabilities, tokenizer.codebook(), uniform);
}

// p(z | nothing): every position is masked, so it is the same for all pictures: [1, L, K].
Tensor empty_logits(const Addp& addp, const Grid& grid) {
  const SamplerStart nothing = SamplerStart::nothing(1, grid);
  const Tensor decoded = addp.decode({}, {nothing.tokens, nothing.masked, grid});
  return addp.code_logits(decoded.slice(1, 1, 1 + grid.area()));
}

}  // namespace

SamplerStart SamplerStart::nothing(std::int64_t batch, const Grid& grid) {
  return {torch::zeros({batch, grid.area()}, torch::kInt64),
          torch::ones({batch, grid.area()}, torch::kBool), grid};
}

Samples generate(Addp& addp, const Vqgan& tokenizer, const SamplerStart& start,
                 const SamplerOptions& options, SamplerNoise& noise, const SamplerHooks& hooks) {
  torch::NoGradGuard no_grad;
  check(options);
  const Grid& grid = start.grid;
  const std::int64_t batch = start.tokens.size(0), unknown = unknown_tokens(start);
  const bool from_nothing = unknown == grid.area();
  SamplerStep state{.steps = options.steps, .tokens = start.tokens, .masked = start.masked};

  // z_T, f(z_T) <- Decoder(nothing)
  const Tensor first = empty_logits(addp, grid).expand({batch, -1, -1});
  // x_T <- VQ-Decoder(z_T (1 - m_T) + f(z_T) m_T); from nothing, the decoder would not look at it
  if (!from_nothing) {
    const Tensor completion =
        mapped(options.mapping, first.softmax(-1), tokenizer, /*step=*/-1, noise);
    state.pixels = decode_noisy(tokenizer, state.tokens, state.masked, completion, grid);
  }
  for (; state.step < options.steps; ++state.step) {
    stop_if_cancelled(hooks, state.step);
    const ReliableTokens z_t{state.tokens, state.masked, grid};
    if (state.step == 0 && from_nothing) {
      state.logits = first;
    } else {
      // e_t <- Encoder(x_t)
      const Tensor e_t = addp.encode(encoder_input(state.pixels), z_t);
      // p(z_{t-1} | x_t) <- Decoder(e_t (1 - m_t) + e_mask m_t)
      state.logits = addp.code_logits(addp.decode(e_t, z_t).slice(1, 1, 1 + grid.area()));
    }
    // sample z_{t-1}; the confident ones become reliable: z_t (1 - m_t) + z_{t-1} (m_t - m_{t-1})
    const Tensor probabilities = advance(state, unknown, options, noise);
    // f(z_{t-1})
    const Tensor unreliable = mapped(options.mapping, probabilities, tokenizer, state.step, noise);
    // x_{t-1} <- VQ-Decoder(z_{t-1} (1 - m_{t-1}) + f(z_{t-1}) m_{t-1})
    state.pixels = decode_noisy(tokenizer, state.tokens, state.masked, unreliable, grid);
    if (hooks.on_step) hooks.on_step(state);
  }
  return {state.tokens, state.pixels};
}

Samples sample_predictor(const Mage& predictor, const Vqgan& tokenizer, const SamplerStart& start,
                         const SamplerOptions& options, SamplerNoise& noise,
                         const SamplerHooks& hooks) {
  torch::NoGradGuard no_grad;
  check(options);
  const std::int64_t unknown = unknown_tokens(start);
  SamplerOptions hard = options;
  hard.keep_last_unreliable =
      false;  // without pixels in the loop, all tokens are decided at the end
  SamplerStep state{.steps = options.steps, .tokens = start.tokens, .masked = start.masked};
  for (; state.step < options.steps; ++state.step) {
    stop_if_cancelled(hooks, state.step);
    state.logits = predictor.code_logits(state.tokens, state.masked, start.grid);
    advance(state, unknown, hard, noise);
    if (hooks.on_step) hooks.on_step(state);
  }
  return {state.tokens, tokenizer.decode_ids(state.tokens, start.grid)};
}

}  // namespace addp
