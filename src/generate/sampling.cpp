#include "generate/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"
#include "diffusion/mapping.h"
#include "nn/torch.h"

namespace addp {

void check(const SamplerOptions& options) {
  if (options.steps < 1) throw UsageError("{} sampling steps: give at least 1", options.steps);
  if (!(options.temperature >= 0) || std::isinf(options.temperature)) {
    throw UsageError("a temperature of {}: give a number from 0", options.temperature);
  }
  if (!(options.top_p > 0 && options.top_p <= 1)) {
    throw UsageError("a top-p of {}: give a number above 0, at most 1", options.top_p);
  }
  if (!(options.guidance >= 0) || std::isinf(options.guidance)) {
    throw UsageError("a guidance of {}: give a number from 0", options.guidance);
  }
}

std::vector<PictureStream> streams_of(std::uint64_t seed,
                                      const std::vector<std::uint64_t>& numbers) {
  std::vector<PictureStream> streams;
  for (const std::uint64_t number : numbers) streams.push_back({seed, number});
  return streams;
}

StreamNoise::StreamNoise(std::vector<PictureStream> pictures) : pictures_(std::move(pictures)) {}

void StreamNoise::keep(const std::vector<std::int64_t>& rows) {
  std::vector<PictureStream> kept;
  for (const std::int64_t row : rows) kept.push_back(pictures_[static_cast<std::size_t>(row)]);
  pictures_ = std::move(kept);
}

Tensor StreamNoise::numbers(const char* purpose, std::int64_t step, std::int64_t batch,
                            std::int64_t length, Fill fill) const {
  if (static_cast<std::size_t>(batch) != pictures_.size()) {
    throw UsageError("noise for {} pictures, asked for {}: give every picture of a batch a number",
                     pictures_.size(), batch);
  }
  const Tensor out = torch::empty({batch, length}, torch::kFloat32);
  for (std::int64_t i = 0; i < batch; ++i) {
    const PictureStream& picture = pictures_[static_cast<std::size_t>(i)];
    RandomStream stream =
        RandomStream(picture.seed, "generate", static_cast<std::uint64_t>(step), picture.number)
            .fork(purpose);
    const Tensor row = out[i];
    (stream.*fill)({row.data_ptr<float>(), static_cast<std::size_t>(length)});
  }
  return out;
}

Tensor StreamNoise::draw(std::int64_t step, const Tensor& probabilities) {
  const Tensor points = numbers("token", step, probabilities.size(0), probabilities.size(1),
                                &RandomStream::fill_uniform);
  return sample_codes(probabilities, points.to(probabilities.device()));
}

Tensor StreamNoise::gumbel(std::int64_t step, std::int64_t batch, std::int64_t length) {
  return numbers("confidence", step, batch, length, &RandomStream::fill_gumbel);
}

Tensor StreamNoise::uniform(std::int64_t step, std::int64_t batch, std::int64_t length) {
  return numbers("mapping", step, batch, length, &RandomStream::fill_uniform);
}

std::int64_t still_masked(std::int64_t length, std::int64_t step, const SamplerOptions& options) {
  const std::int64_t floor = options.keep_last_unreliable ? std::min<std::int64_t>(1, length) : 0;
  if (step + 1 >= options.steps) return floor;  // the cosine would leave a rounding error above 0
  const double done = static_cast<double>(step + 1) / static_cast<double>(options.steps);
  const double ratio =
      options.curve == MaskCurve::kCosine ? std::cos(std::numbers::pi / 2 * done) : 1 - done;
  const auto count = std::llround(std::ceil(static_cast<double>(length) * ratio));
  return std::clamp<std::int64_t>(count, floor, length);
}

std::int64_t first_step(std::int64_t unknown, std::int64_t length, const SamplerOptions& options) {
  std::int64_t step = 0;
  while (step + 1 < options.steps && still_masked(length, step, options) >= unknown) ++step;
  return unknown == length ? 0 : step;
}

Tensor keep_top_p(const Tensor& probabilities, double top_p) {
  if (top_p >= 1) return probabilities;
  const auto [sorted, order] = probabilities.sort(-1, /*descending=*/true);
  // A code stays while those before it make up less than top_p; the first one always does.
  const Tensor kept = (sorted.cumsum(-1) - sorted) < top_p;
  return torch::zeros_like(probabilities).scatter_(-1, order, sorted * kept);
}

Tensor least_confident(const Tensor& log_probabilities, const Tensor& gumbel, double temperature,
                       const Tensor& masked, std::int64_t count) {
  const Tensor confidence =
      (log_probabilities + temperature * gumbel)
          .masked_fill(masked.logical_not(), std::numeric_limits<float>::infinity());
  const Tensor least = std::get<1>(confidence.topk(count, -1, /*largest=*/false));
  return torch::zeros_like(masked).scatter_(1, least, true);
}

}  // namespace addp
