#include "generate/sampler.h"

#include "base/error.h"
#include "diffusion/mapping.h"
#include "diffusion/noisy_pixels.h"
#include "machine/machine.h"
#include "nn/kernel/frozen_weights.h"
#include "nn/layer/rows.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr std::int64_t kSparing = 4;  // steps after which memory is returned, where it is short

// The same number of masked tokens in every sample, or a UsageError.
std::int64_t unknown_tokens(const SamplerStart& start) {
  const Tensor counts = start.masked.sum(1);
  const std::int64_t first = counts[0].item<std::int64_t>();
  if ((counts != first).any().item<bool>()) {
    throw UsageError(
        "the pictures of a batch must have the same number of masked tokens: give them one by one");
  }
  return first;
}

void stop_if_cancelled(const SamplerHooks& hooks, std::int64_t step) {
  if (hooks.cancelled && hooks.cancelled()) {
    throw InterruptedError("sampling was cancelled before step {}", step + 1);
  }
}

// The rows that are still wanted, here and in what is drawn for them.
void keep_rows(const SamplerHooks& hooks, SamplerStep& state, SamplerStart& start, Tensor& first,
               SamplerNoise& noise) {
  if (!hooks.wanted) return;
  const std::vector<std::int64_t> rows = hooks.wanted();
  if (static_cast<std::int64_t>(rows.size()) == state.tokens.size(0)) return;
  if (rows.empty()) throw InterruptedError("nobody wants the pictures any more");
  const Tensor kept = torch::tensor(rows, torch::kInt64).to(state.tokens.device());
  for (Tensor* part : {&state.tokens, &state.masked, &state.embeddings, &state.pixels,
                       &start.tokens, &start.masked, &start.pixels, &start.classes, &first}) {
    if (part->defined()) *part = part->index_select(0, kept);
  }
  noise.keep(rows);
}

void require_bypass(const Addp& addp, const SamplerOptions& options) {
  if (!options.fast || addp.bypass() != nullptr) return;
  throw UsageError("this model cannot sample fast: prepare it with 'addp distil'");
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
  const std::int64_t length = state.masked.size(1);
  const Tensor probabilities = state.logits.softmax(-1, torch::kFloat32);
  state.drawn = noise.draw(state.step, keep_top_p(probabilities, options.top_p));
  state.tokens = at::where(state.masked, state.drawn, state.tokens);
  const Tensor chosen = probabilities.gather(2, state.drawn.unsqueeze(2)).squeeze(2).log();
  const Tensor gumbel =
      noise.gumbel(state.step, chosen.size(0), chosen.size(1)).to(chosen.device());
  state.masked = least_confident(chosen, gumbel, temperature_at(state.step, options), state.masked,
                                 std::min(unknown, still_masked(length, state.step, options)));
  return probabilities;
}

Tensor mapped(Mapping mapping, const Tensor& probabilities, const Vqgan& tokenizer,
              std::int64_t step, SamplerNoise& noise) {
  Tensor uniform;
  if (mapping == Mapping::kSampling) {
    uniform = noise.uniform(step, probabilities.size(0), probabilities.size(1))
                  .to(probabilities.device());
  }
  return map_to_embeddings(mapping, probabilities, tokenizer.codebook(), uniform);
}

// Logits for `classes` under classifier-free guidance; `logits` gives those of any classes,
// and of none.
template <typename Logits>
Tensor guided(const Logits& logits, const Tensor& classes, double guidance) {
  if (!classes.defined()) return logits({});
  if (guidance == 1) return logits(classes);
  return at::lerp(logits({}), logits(classes), guidance);
}

// p(z | nothing), [1, L, K]: every position is masked, so it is the same for all pictures
// of a class.
Tensor empty_logits(const Addp& addp, const Grid& grid, const Tensor& one_class) {
  const SamplerStart nothing = SamplerStart::nothing(1, grid);
  return addp.code_logits(addp.decode({}, {nothing.tokens, nothing.masked, grid, one_class}));
}

Tensor first_logits(const Addp& addp, const SamplerStart& start, const SamplerOptions& options) {
  const Tensor without = empty_logits(addp, start.grid, {});
  if (!start.classes.defined()) return without.expand({start.tokens.size(0), -1, -1});
  const auto [found, places] = at::_unique(start.classes, true, true);
  std::vector<Tensor> rows;
  for (const auto& one : found.split(1)) rows.push_back(empty_logits(addp, start.grid, one));
  return at::lerp(without, at::cat(rows).index_select(0, places), options.guidance);
}

// Logits [B, U, K] of the unreliable positions, at their places among all.
Tensor among_all(const Tensor& logits, const Tensor& masked) {
  const Tensor all = at::zeros({masked.size(0), masked.size(1), logits.size(2)}, logits.options());
  return put_rows(all, positions_of(masked), logits);
}

// p(z_{t-1} | x_t), as logits.
Tensor step_logits(Addp& addp, const SamplerStep& state, const SamplerStart& start,
                   const SamplerOptions& options) {
  ReliableTokens z_t{state.tokens, state.masked, start.grid};
  // e_t <- Encoder(x_t), which does not look at the class
  const Tensor e_t = state.pixels.defined() ? addp.encode(encoder_input(state.pixels), z_t)
                                            : addp.encode_fast(state.embeddings, z_t);
  const auto decoded = [&](const Tensor& classes) {
    z_t.classes = classes;
    // Decoder(e_t (1 - m_t) + e_mask m_t)
    return addp.code_logits(addp.decode(e_t, z_t));
  };
  return among_all(guided(decoded, start.classes, options.guidance), state.masked);
}

Tensor predictor_logits(const Mage& predictor, const SamplerStep& state, const SamplerStart& start,
                        const SamplerOptions& options) {
  const Tensor places = positions_of(state.masked);
  const auto logits = [&](const Tensor& classes) {
    return predictor.code_logits(state.tokens, state.masked, start.grid, nullptr, classes, places);
  };
  return among_all(guided(logits, start.classes, options.guidance), state.masked);
}

}  // namespace

SamplerStart SamplerStart::nothing(std::int64_t batch, const Grid& grid) {
  return {torch::zeros({batch, grid.area()}, torch::kInt64).to(compute_device()),
          torch::ones({batch, grid.area()}, torch::kBool).to(compute_device()), grid};
}

Tensor pixels_of(const SamplerStep& step, const Vqgan& tokenizer, const Tensor& rows) {
  const auto chosen = [&](const Tensor& all) {
    return rows.defined() ? all.index_select(0, rows) : all;
  };
  if (step.pixels.defined()) return chosen(step.pixels);
  if (!step.embeddings.defined()) return tokenizer.decode_ids(chosen(step.tokens), step.grid);
  return tokenizer.decode(to_grid(chosen(step.embeddings), step.grid));
}

Samples generate(Addp& addp, const Vqgan& tokenizer, const SamplerStart& given,
                 const SamplerOptions& options, SamplerNoise& noise, const SamplerHooks& hooks) {
  torch::NoGradGuard no_grad;
  check(options);
  require_bypass(addp, options);
  SamplerStart start = given;
  const Grid& grid = start.grid;
  const std::int64_t unknown = unknown_tokens(start);
  const bool from_nothing = unknown == grid.area();
  SamplerStep state{.step = first_step(unknown, grid.area(), options),
                    .steps = options.steps,
                    .tokens = start.tokens,
                    .masked = start.masked,
                    .pixels = start.pixels,
                    .grid = grid};
  // x_t <- VQ-Decoder(z_t (1 - m_t) + f(z_t) m_t), which fast sampling needs at the end only
  const auto complete = [&](const Tensor& unreliable, bool decode) {
    state.embeddings = mixed_embeddings(tokenizer, state.tokens, state.masked, unreliable);
    state.pixels = decode ? tokenizer.decode(to_grid(state.embeddings, grid)) : Tensor();
  };

  // z_T, f(z_T) <- Decoder(nothing)
  Tensor first;
  if (from_nothing || !state.pixels.defined()) first = first_logits(addp, start, options);
  if (!from_nothing && !state.pixels.defined()) {  // from nothing, the decoder would not look at it
    complete(mapped(options.mapping, first.softmax(-1), tokenizer, /*step=*/-1, noise),
             !options.fast);
  }
  for (; state.step < options.steps; ++state.step) {
    stop_if_cancelled(hooks, state.step);
    keep_rows(hooks, state, start, first, noise);
    state.logits =
        state.step == 0 && from_nothing ? first : step_logits(addp, state, start, options);
    // sample z_{t-1}; the confident ones become reliable: z_t (1 - m_t) + z_{t-1} (m_t - m_{t-1})
    const Tensor probabilities = advance(state, unknown, options, noise);
    Tensor unreliable;  // f(z_{t-1}); nothing is unreliable in the end
    if (state.masked.any().item<bool>()) {
      unreliable = mapped(options.mapping, probabilities, tokenizer, state.step, noise);
    }
    complete(unreliable, !options.fast || state.step + 1 == options.steps);
    if (state.step % kSparing == kSparing - 1) spare_memory(state.embeddings);
    if (hooks.on_step) hooks.on_step(state);
  }
  return {state.tokens, state.pixels};
}

Samples sample_predictor(const Mage& predictor, const Vqgan& tokenizer, const SamplerStart& given,
                         const SamplerOptions& options, SamplerNoise& noise,
                         const SamplerHooks& hooks) {
  torch::NoGradGuard no_grad;
  check(options);
  SamplerStart start = given;
  const std::int64_t unknown = unknown_tokens(start);
  SamplerOptions hard = options;
  // Without pixels in the loop, all tokens are decided at the end.
  hard.keep_last_unreliable = false;
  SamplerStep state{.step = first_step(unknown, start.grid.area(), options),
                    .steps = options.steps,
                    .tokens = start.tokens,
                    .masked = start.masked,
                    .grid = start.grid};
  Tensor none;
  for (; state.step < options.steps; ++state.step) {
    stop_if_cancelled(hooks, state.step);
    keep_rows(hooks, state, start, none, noise);
    state.logits = predictor_logits(predictor, state, start, options);
    advance(state, unknown, hard, noise);
    if (hooks.on_step) hooks.on_step(state);
  }
  return {state.tokens, tokenizer.decode_ids(state.tokens, start.grid)};
}

}  // namespace addp
