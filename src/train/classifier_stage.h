// Fine-tuning an encoder, or training it from scratch, as an image classifier.
#pragma once

#include "eval/picture_pass.h"
#include "heads/classifier.h"
#include "train/classifier_options.h"
#include "train/picture_feed.h"
#include "train/stage.h"

namespace addp {

class ClassifierStage : public Stage {
 public:
  ClassifierStage(const ClassifierTrainOptions& options, World& world);

  std::string name() const override { return "classifier"; }
  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::int64_t steps_per_epoch() const override { return feed_.steps_per_epoch(); }
  void seek(std::int64_t step) override { feed_.seek(step); }
  Metrics step(const StepContext& context) override;
  Metrics evaluate() override;
  std::vector<Panel> pictures() override;
  std::pair<std::string, bool> best_figure() const override { return {"top1", true}; }
  void save_model(const std::filesystem::path& path, const std::string& provenance) override;
  TensorMap state() const override;
  void load_state(const TensorMap& tensors, const std::string& source) override;
  double activation_bytes() const override;

  Classifier& classifier() { return *classifier_; }

 private:
  Tensor loss_of(const Tensor& logits, const Tensor& targets) const;

  ClassifierTrainOptions options_;
  World& world_;
  PictureFeed feed_;
  std::shared_ptr<const Dataset> validation_;
  std::shared_ptr<Classifier> classifier_;
  std::unique_ptr<Learner> learner_;
};

// What the classifier says about a few held-out pictures.
Panel prediction_panel(Classifier& classifier, const std::shared_ptr<const Dataset>& validation);

}  // namespace addp
