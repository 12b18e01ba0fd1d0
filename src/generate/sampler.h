// Algorithm 2 of the paper: pictures out of nothing, or out of some known tokens,
// by alternating denoising.
//
// The networks are only read. Runs may go on in several threads at once, each with its own noise.
#pragma once

#include <functional>

#include "diffusion/addp.h"
#include "generate/sampling.h"
#include "predictor/mage.h"
#include "tokenizer/vqgan.h"

namespace addp {

// What is known at the start: nothing, or the tokens of the visible part of a picture.
struct SamplerStart {
  Tensor tokens;  // [B, L] int64; masked ones are not looked at
  Tensor masked;  // [B, L] bool; every sample has the same number of masked tokens
  Grid grid;
  Tensor pixels{};   // [B, 3, H, W], x_t to begin with; undefined: decoded from what is known
  Tensor classes{};  // [B] ids of the vocabulary; undefined: no class

  static SamplerStart nothing(std::int64_t batch, const Grid& grid);
};

// The state after a step, as callbacks see it.
struct SamplerStep {
  std::int64_t step = 0, steps = 0;
  Tensor logits{};  // [B, L, K], of the prediction in this step; 0 where a token was reliable
  Tensor drawn{};   // [B, L], a candidate for every position; any where a token was reliable
  Tensor tokens{};  // [B, L], the candidates where masked before, else the reliable tokens
  Tensor masked{};  // [B, L], unreliable after this step
  // What x_t is decoded from, [B, L, D], and x_t as decoded (not clamped), [B, 3, H, W]. The latter
  // is undefined in the inner steps of fast sampling, both are in sample_predictor(): pixels_of()
  // shows them all.
  Tensor embeddings{}, pixels{};
  Grid grid{};
};

// x_t of a step, decoded now where the sampler had no need to; of sample_predictor() what its
// tokens look like. `rows` [N] chooses samples; undefined: all.
Tensor pixels_of(const SamplerStep& step, const Vqgan& tokenizer, const Tensor& rows = {});

struct SamplerHooks {
  std::function<void(const SamplerStep&)> on_step{};
  // Asked before each step; true ends the run with InterruptedError.
  std::function<bool()> cancelled{};
  // Asked before each step, after `cancelled`: the rows of the present batch that go on; the others
  // are computed no further, and are missing from all that follows. None: InterruptedError.
  std::function<std::vector<std::int64_t>()> wanted{};
};

struct Samples {
  Tensor tokens;  // [B, L]
  Tensor pixels;  // [B, 3, H, W], in [0, 1] but for the decoder's overshoot
};

// With options.fast the model needs a bypass, else a UsageError.
Samples generate(Addp& addp, const Vqgan& tokenizer, const SamplerStart& start,
                 const SamplerOptions& options, SamplerNoise& noise,
                 const SamplerHooks& hooks = {});

// The same decoding with the token predictor alone (MAGE's own generation), for comparison.
Samples sample_predictor(const Mage& predictor, const Vqgan& tokenizer, const SamplerStart& start,
                         const SamplerOptions& options, SamplerNoise& noise,
                         const SamplerHooks& hooks = {});

}  // namespace addp
