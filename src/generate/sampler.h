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
  Tensor logits{};  // [B, L, K], of the prediction in this step
  Tensor drawn{};   // [B, L], a candidate for every position
  Tensor tokens{};  // [B, L], the candidates where masked before, else the reliable tokens
  Tensor masked{};  // [B, L], unreliable after this step
  Tensor pixels{};  // [B, 3, H, W], x_t as decoded (not clamped); undefined from sample_predictor()
};

struct SamplerHooks {
  std::function<void(const SamplerStep&)> on_step{};
  // Asked before each step; true ends the run with InterruptedError.
  std::function<bool()> cancelled{};
};

struct Samples {
  Tensor tokens;  // [B, L]
  Tensor pixels;  // [B, 3, H, W], in [0, 1] but for the decoder's overshoot
};

Samples generate(Addp& addp, const Vqgan& tokenizer, const SamplerStart& start,
                 const SamplerOptions& options, SamplerNoise& noise,
                 const SamplerHooks& hooks = {});

// The same decoding with the token predictor alone (MAGE's own generation), for comparison.
Samples sample_predictor(const Mage& predictor, const Vqgan& tokenizer, const SamplerStart& start,
                         const SamplerOptions& options, SamplerNoise& noise,
                         const SamplerHooks& hooks = {});

}  // namespace addp
