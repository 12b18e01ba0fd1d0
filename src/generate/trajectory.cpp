#include "generate/trajectory.h"

#include <algorithm>
#include <array>

#include "image/draw/draw.h"
#include "image/resize/resize.h"
#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr double kGrey = 0.5;

// Cells [B, L, C] or [B, L] blown up to pixels: [B, C, H, W].
Tensor to_pixels(const Tensor& cells, const Grid& grid, std::int64_t factor) {
  const Tensor rows = cells.dim() == 2 ? cells.unsqueeze(2) : cells;
  return to_grid(rows.to(torch::kFloat32), grid)
      .repeat_interleave(factor, 2)
      .repeat_interleave(factor, 3);
}

Image join(const TrajectoryFrame& frame, int scale) {
  std::vector<Image> parts;
  for (const Image* part : {&frame.reliable, &frame.tokens, &frame.pixels}) {
    parts.push_back(resize(*part, part->width * scale, part->height * scale, Resample::kNearest));
  }
  return make_grid(parts, 3, 4);
}

}  // namespace

Tensor principal_colors(const Tensor& vectors) {
  const Tensor centred = (vectors - vectors.mean(0)).to(torch::kFloat64);
  const auto [values, axes] = at::linalg_eigh(centred.t().matmul(centred));  // ascending
  const std::int64_t used = std::min<std::int64_t>(3, axes.size(1));
  Tensor leading = axes.slice(1, axes.size(1) - used).flip({1});
  // An axis has no sign of its own: its largest entry decides, so that colours do not depend
  // on the solver.
  const Tensor largest = leading.gather(0, leading.abs().argmax(0, true));
  leading = leading * largest.sign();
  const Tensor scores = at::constant_pad_nd(centred.matmul(leading), {0, 3 - used});
  const Tensor low = scores.quantile(0.02, 0), high = scores.quantile(0.98, 0);
  return ((scores - low) / (high - low).clamp_min(1e-12)).clamp(0, 1).to(torch::kFloat32);
}

Trajectory::Trajectory(const Vqgan& tokenizer, const Grid& grid)
    : tokenizer_(tokenizer), grid_(grid), colors_(principal_colors(tokenizer.codebook())) {}

void Trajectory::add(const SamplerStep& step) {
  torch::NoGradGuard guard;
  const std::int64_t factor = tokenizer_.factor();
  const Tensor pixels = pixels_of(step, tokenizer_);
  const Tensor hidden = to_pixels(step.masked, grid_, factor) > 0;
  const Tensor reliable = pixels.masked_fill(hidden, kGrey);
  const Tensor painted = to_pixels(colors_.index({step.tokens}), grid_, factor);
  const Tensor tokens = painted.masked_fill(hidden, kGrey);
  frames_.resize(static_cast<std::size_t>(pixels.size(0)));
  for (std::int64_t i = 0; i < pixels.size(0); ++i) {
    frames_[static_cast<std::size_t>(i)].push_back(
        {to_image(reliable[i]), to_image(tokens[i]), to_image(pixels[i])});
  }
}

const std::vector<TrajectoryFrame>& Trajectory::frames(std::int64_t index) const {
  return frames_.at(static_cast<std::size_t>(index));
}

Image trajectory_strip(const std::vector<TrajectoryFrame>& frames, int columns) {
  const int count = static_cast<int>(frames.size()), shown = std::min(columns, count);
  std::array<std::vector<Image>, 3> rows;
  for (int i = 0; i < shown; ++i) {
    const int step = shown == 1 ? count - 1 : i * (count - 1) / (shown - 1);
    const TrajectoryFrame& frame = frames[static_cast<std::size_t>(step)];
    rows[0].push_back(frame.reliable);
    rows[1].push_back(frame.tokens);
    rows[2].push_back(frame.pixels);
  }
  std::vector<Image> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return make_grid(all, shown);
}

std::vector<Image> trajectory_animation(const std::vector<TrajectoryFrame>& frames, int side) {
  std::vector<Image> out;
  for (const auto& frame : frames) {
    out.push_back(join(frame, std::max(1, (side + frame.pixels.width - 1) / frame.pixels.width)));
  }
  return out;
}

}  // namespace addp
