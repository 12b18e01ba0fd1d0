// What a sampling run looks like from step to step, as the paper's figures show it.
#pragma once

#include <vector>

#include "generate/sampler.h"
#include "image/image.h"

namespace addp {

// One picture at one step: the reliable regions with the rest in grey, the tokens' embeddings as
// colours (their three leading principal components over the codebook), and x_t.
struct TrajectoryFrame {
  Image reliable, tokens, pixels;
};

// Collects the frames of a run from its callbacks.
class Trajectory {
 public:
  Trajectory(const Vqgan& tokenizer, const Grid& grid);

  void add(const SamplerStep& step);
  // Frames of picture `index` of the batch, a step each.
  const std::vector<TrajectoryFrame>& frames(std::int64_t index) const;

 private:
  const Vqgan& tokenizer_;
  Grid grid_;
  Tensor colors_;  // [K, 3], every code's colour
  std::vector<std::vector<TrajectoryFrame>> frames_;
};

// [K, 3] in [0, 1]: the three leading principal components of the rows of [K, D], stretched so that
// 2% of them lie outside at either end.
Tensor principal_colors(const Tensor& vectors);

// Three rows (reliable, tokens, x_t) and at most `columns` evenly chosen steps, the
// last among them.
Image trajectory_strip(const std::vector<TrajectoryFrame>& frames, int columns = 10);
// The three side by side, a step a frame, enlarged with hard edges to at least `side` pixels each.
std::vector<Image> trajectory_animation(const std::vector<TrajectoryFrame>& frames, int side = 192);

}  // namespace addp
