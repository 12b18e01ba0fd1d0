// Training the token predictor: MAGE as in its paper, on the tokens of a frozen tokenizer.
#pragma once

#include "predictor/mage_training.h"
#include "train/predictor_options.h"
#include "train/stage.h"
#include "train/token_feed.h"

namespace addp {

class PredictorStage : public Stage {
 public:
  PredictorStage(const PredictorTrainOptions& options, World& world);

  std::string name() const override { return "predictor"; }
  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::int64_t steps_per_epoch() const override { return feed_.steps_per_epoch(); }
  void seek(std::int64_t step) override { feed_.seek(step); }
  Metrics step(const StepContext& context) override;
  Metrics evaluate() override;
  std::vector<Panel> pictures() override;
  std::pair<std::string, bool> best_figure() const override { return {"loss", false}; }
  void save_model(const std::filesystem::path& path, const std::string& provenance) override;
  TensorMap state() const override;
  void load_state(const TensorMap& tensors, const std::string& source) override;
  double activation_bytes() const override;

 private:
  MageMaskOptions mask_options() const;

  PredictorTrainOptions options_;
  World& world_;
  std::shared_ptr<Vqgan> tokenizer_;
  TokenFeed feed_;
  std::shared_ptr<Mage> network_;
  std::unique_ptr<Learner> learner_;
};

}  // namespace addp
