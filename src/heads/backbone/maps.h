// An image encoder as dense heads take it: maps at four depths instead of one sequence.
#pragma once

#include <array>

#include "heads/backbone/backbone.h"
#include "model/model_file.h"
#include "nn/layer/param_groups.h"

namespace addp {

struct MapsConfig {
  BackboneConfig backbone;
  // A transformer's: side of the attention windows, in positions; the last block of each quarter of
  // the depth attends globally all the same. 0: all blocks do.
  std::int64_t window = 0;
  bool relative_positions = true;  // a transformer's
  bool frozen_norm = false;        // a ResNet's: batch norms keep the statistics they have
};

class Maps : public torch::nn::Module {
 public:
  // The tokenizer is needed by a backbone of tokens only.
  explicit Maps(const MapsConfig& config, std::shared_ptr<const Vqgan> tokenizer = {});
  const MapsConfig& config() const { return config_; }

  // Normalised pixels [B, 3, H, W], H and W multiples of step(). A transformer: [B, D, H/s, W/s]
  // behind four of its blocks, the last among them. A ResNet: its stages.
  std::array<Tensor, 4> forward(const Tensor& pixels, DropoutKeys* keys = nullptr);
  std::array<std::int64_t, 4> channels() const;
  std::array<std::int64_t, 4> strides() const;
  std::int64_t step() const;  // what the sides of a picture must be multiples of
  bool is_transformer() const { return transformer_ != nullptr; }
  const std::shared_ptr<const Vqgan>& tokenizer() const { return tokenizer_; }

  // The encoder's weights out of a pre-trained file; relative positions, which it has not, stay.
  void load_pretrained(const ModelFile& file);
  void train(bool on = true) override;

 private:
  std::array<Tensor, 4> transformer_maps(const Tensor& pixels, DropoutKeys* keys) const;
  GridAttention attention_of(std::size_t block, const Grid& grid) const;

  MapsConfig config_;
  std::shared_ptr<const Vqgan> tokenizer_;             // of a backbone of tokens
  std::shared_ptr<TransformerEncoder> transformer_;    // null for a ResNet
  std::shared_ptr<ResNet> resnet_;                     // null for a transformer
  std::vector<std::pair<Tensor, Tensor>> relative_{};  // rows and columns of each block
};

// Which blocks of a transformer give maps: thirds and halves of the depth, as BEiT takes them for
// UperNet (3, 5, 7 and 11 of twelve).
std::array<std::int64_t, 4> tapped_blocks(std::int64_t depth);
bool attends_globally(std::int64_t block, std::int64_t depth);

// Random initial weights for a network that stands on maps; relative positions start at zero, so
// that a pre-trained encoder starts as what it was.
void initialise_on_maps(torch::nn::Module& network, const RandomStream& stream);

// Layer-wise decay where the encoder behind the maps (registered as "maps") is a transformer; one
// rate for all otherwise.
std::vector<ParamGroup> maps_groups(const torch::nn::Module& network, const MapsConfig& config,
                                    double layer_decay, double weight_decay);

}  // namespace addp
