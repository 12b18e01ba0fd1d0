// The decisions of one step of iterative decoding (Chang et al. 2022), shared by all samplers.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "generate/options.h"
#include "nn/types.h"

namespace addp {

// Where the randomness of a run comes from; recorded noise can be played back through it.
class SamplerNoise {
 public:
  virtual ~SamplerNoise() = default;
  // One code per position, drawn from probabilities [B, L, K]: [B, L].
  virtual Tensor draw(std::int64_t step, const Tensor& probabilities) = 0;
  virtual Tensor gumbel(std::int64_t step, std::int64_t batch, std::int64_t length) = 0;  // [B, L]
  // Uniform numbers for Mapping::kSampling, [B, L].
  virtual Tensor uniform(std::int64_t step, std::int64_t batch, std::int64_t length) = 0;
  // Of the samples, these go on, in this order (SamplerHooks::wanted).
  virtual void keep(const std::vector<std::int64_t>& rows) = 0;
};

// The stream that a picture is drawn from: picture `number` of a seed.
struct PictureStream {
  std::uint64_t seed = 0, number = 0;
};
std::vector<PictureStream> streams_of(std::uint64_t seed,
                                      const std::vector<std::uint64_t>& numbers);

// Sample i of the batch draws from the stream (seed, "generate", step, number) of its own alone, so
// that a picture does not depend on what else is in its batch.
class StreamNoise : public SamplerNoise {
 public:
  explicit StreamNoise(std::vector<PictureStream> pictures);
  StreamNoise(std::uint64_t seed, const std::vector<std::uint64_t>& numbers)
      : StreamNoise(streams_of(seed, numbers)) {}

  Tensor draw(std::int64_t step, const Tensor& probabilities) override;
  Tensor gumbel(std::int64_t step, std::int64_t batch, std::int64_t length) override;
  Tensor uniform(std::int64_t step, std::int64_t batch, std::int64_t length) override;
  void keep(const std::vector<std::int64_t>& rows) override;

 private:
  using Fill = void (RandomStream::*)(std::span<float>);
  Tensor numbers(const char* purpose, std::int64_t step, std::int64_t batch, std::int64_t length,
                 Fill fill) const;

  std::vector<PictureStream> pictures_;
};

// How many of `length` tokens stay masked after step s: ceil(length * cos(pi/2 (s +
// 1)/S)), or linear.
std::int64_t still_masked(std::int64_t length, std::int64_t step, const SamplerOptions& options);

// The step that a run with `unknown` of `length` tokens masked begins with: the last one before
// which at least as many are masked. 0 where all are.
std::int64_t first_step(std::int64_t unknown, std::int64_t length, const SamplerOptions& options);

// Probabilities [B, L, K] with all but the likeliest codes that make up `top_p` set to zero.
Tensor keep_top_p(const Tensor& probabilities, double top_p);

// Confidence log p + tau * noise of the drawn tokens; the `count` least confident of the masked
// positions stay masked. [B, L] -> [B, L] bool.
Tensor least_confident(const Tensor& log_probabilities, const Tensor& gumbel, double temperature,
                       const Tensor& masked, std::int64_t count);

}  // namespace addp
