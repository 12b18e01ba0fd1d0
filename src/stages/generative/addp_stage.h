// Pre-training ADDP: Algorithm 1 on the tokens of a frozen tokenizer with a frozen predictor.
#pragma once

#include "diffusion/algorithm1.h"
#include "feed/token_feed.h"
#include "stages/generative/addp_options.h"
#include "train/network_stage.h"

namespace addp {

class AddpStage : public NetworkStage {
 public:
  AddpStage(const AddpTrainOptions& options, World& world);

  Metrics evaluate() override;
  std::vector<Panel> pictures() override;
  void save_model(const std::filesystem::path& path, const std::string& provenance) override;
  double activation_bytes() const override;

 private:
  MicrobatchLoss microbatch_loss(const Microbatch& part) override;
  Tensor classes_of(const Tensor& labels, const RandomStream* stream, std::int64_t first) const;
  Panel noisy_panel() const;
  Panel sample_panel() const;

  AddpTrainOptions options_;
  std::shared_ptr<Vqgan> tokenizer_;
  std::shared_ptr<Mage> predictor_;
  TokenFeed feed_;
  PretrainingOptions pretraining_;
  std::shared_ptr<Addp> network_;
};

}  // namespace addp
