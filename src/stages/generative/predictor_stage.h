// Training the token predictor: MAGE as in its paper, on the tokens of a frozen tokenizer.
#pragma once

#include "feed/token_feed.h"
#include "predictor/mage_training.h"
#include "stages/generative/predictor_options.h"
#include "train/network_stage.h"

namespace addp {

class PredictorStage : public NetworkStage {
 public:
  PredictorStage(const PredictorTrainOptions& options, World& world);

  Metrics evaluate() override;
  std::vector<Panel> pictures() override;
  void save_model(const std::filesystem::path& path, const std::string& provenance) override;
  double activation_bytes() const override;

 private:
  MicrobatchLoss microbatch_loss(const Microbatch& part) override;
  MageMaskOptions mask_options() const;

  PredictorTrainOptions options_;
  std::shared_ptr<Vqgan> tokenizer_;
  TokenFeed feed_;
  std::shared_ptr<Mage> network_;
};

}  // namespace addp
