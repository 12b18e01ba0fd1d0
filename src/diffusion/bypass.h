// A small network past the pixels: from the token embeddings that x_t would be decoded from
// straight to what the encoder makes of x_t in its first blocks. `addp distil` trains it on a
// model's own trajectories; fast sampling uses it in all steps but the last.
#pragma once

#include <memory>
#include <vector>

#include "base/random.h"
#include "tokenizer/vqgan_layers.h"

namespace addp {

struct BypassConfig {
  std::int64_t code_width = 0;  // of the tokenizer's codes
  std::int64_t width = 0;       // channels; 0: there is no bypass
  std::int64_t blocks = 4;
  std::int64_t skip = 0;           // blocks of the encoder that it stands for, beside the pixels
  std::int64_t encoder_width = 0;  // of the encoder
  Grid grid{};                     // what it knows means for; others are resized to
};

// Channels for an encoder of this width: a third of it, so that a step costs a few percent of what
// the encoder costs.
std::int64_t usual_bypass_width(std::int64_t encoder_width);
// A third of the encoder's blocks.
std::int64_t usual_bypass_skip(std::int64_t encoder_depth);

// Convolutions on the grid of tokens, as the VQ decoder has them there, and their mean for the
// class position: any grid will do, and the result of a sample depends on that sample alone.
class Bypass : public torch::nn::Module {
 public:
  explicit Bypass(const BypassConfig& config);
  const BypassConfig& config() const { return config_; }

  // [B, L, code_width] -> what enters the encoder's block number `skip`, [B, 1 + L, encoder_width]
  Tensor forward(const Tensor& embeddings, const Grid& grid) const;

  // The mean of every position and the spread of states [N, 1 + L, encoder_width], which the layers
  // then need not learn.
  void start_on(const Tensor& states);
  // The share of the states' variance that a prediction leaves unexplained, over all numbers: 1
  // before training, 0 for a perfect network.
  Tensor unexplained(const Tensor& predicted, const Tensor& states) const;

 private:
  BypassConfig config_;
  std::shared_ptr<Conv2d> conv_in_, conv_out_;
  VqganBlocks blocks_;
  std::shared_ptr<GroupNorm> norm_out_;
  std::shared_ptr<Linear> class_out_;
  Tensor mean_, deviation_;  // [1, 1 + L, encoder_width] and [1]
};

// Weights for training from scratch: everything is predicted as the mean.
void initialise_bypass(Bypass& bypass, const RandomStream& stream);

}  // namespace addp
