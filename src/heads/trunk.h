// An image encoder as dense heads take it: maps at four depths instead of one sequence.
#pragma once

#include <array>

#include "nn/encoders.h"
#include "nn/model_file.h"
#include "nn/param_groups.h"

namespace addp {

struct TrunkConfig {
  EncoderConfig encoder;
  // A ViT's: side of the attention windows, in positions; the last block of each quarter of the
  // depth attends globally all the same. 0: all blocks do.
  std::int64_t window = 0;
  bool relative_positions = true;  // a ViT's
  bool frozen_norm = false;        // a ResNet's: batch norms keep the statistics they have
};

// The encoder of a pre-trained network, or of a preset, for pictures of another grid: without the
// norms around a ViT's blocks, with stochastic depth instead of dropout.
EncoderConfig dense_encoder(EncoderConfig encoder, const Grid& grid, double drop_path);

class Trunk : public torch::nn::Module {
 public:
  explicit Trunk(const TrunkConfig& config);
  const TrunkConfig& config() const { return config_; }

  // Normalised pixels [B, 3, H, W], H and W multiples of step(). A ViT: [B, D, H/patch, W/patch]
  // behind four of its blocks, the last among them. A ResNet: its stages.
  std::array<Tensor, 4> maps(const Tensor& pixels, Noise* noise = nullptr);
  std::array<std::int64_t, 4> channels() const;
  std::array<std::int64_t, 4> strides() const;
  std::int64_t step() const;  // what the sides of a picture must be multiples of
  bool is_vit() const { return vit_ != nullptr; }

  // The encoder's weights out of an ADDP file; relative positions, which it has not, stay.
  void load_pretrained(const ModelFile& file);
  void train(bool on = true) override;

 private:
  std::array<Tensor, 4> vit_maps(const Tensor& pixels, Noise* noise) const;
  GridAttention attention_of(std::size_t block, const Grid& grid) const;

  TrunkConfig config_;
  std::shared_ptr<Vit> vit_;                           // null for a ResNet
  std::shared_ptr<ResNet> resnet_;                     // null for a ViT
  std::vector<std::pair<Tensor, Tensor>> relative_{};  // rows and columns of each block
};

// Which blocks of a ViT give maps: thirds and halves of the depth, as BEiT takes them for UperNet
// (3, 5, 7 and 11 of twelve).
std::array<std::int64_t, 4> tapped_blocks(std::int64_t depth);
bool attends_globally(std::int64_t block, std::int64_t depth);

// Random initial weights for a network with a trunk in it; relative positions start at zero, so
// that a pre-trained encoder starts as what it was.
void initialise_dense(torch::nn::Module& network, const RandomStream& stream);

// Layer-wise decay where the trunk (registered as "trunk") is a ViT; one rate for all otherwise.
std::vector<ParamGroup> dense_groups(const torch::nn::Module& network, const TrunkConfig& config,
                                     double layer_decay, double weight_decay);

}  // namespace addp
