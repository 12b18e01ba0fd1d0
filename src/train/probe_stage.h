// Linear probing: a linear layer on the features of a frozen encoder, trained with LARS, and the
// accuracy of nearest neighbours among the same features beside it.
#pragma once

#include <optional>

#include "heads/classifier.h"
#include "train/classifier_options.h"
#include "train/feature_feed.h"
#include "train/stage.h"

namespace addp {

class ProbeStage : public Stage {
 public:
  ProbeStage(const ProbeTrainOptions& options, World& world);

  std::string name() const override { return "probe"; }
  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::int64_t steps_per_epoch() const override { return feed_->steps_per_epoch(); }
  void seek(std::int64_t step) override { feed_->seek(step); }
  Metrics step(const StepContext& context) override;
  Metrics evaluate() override;
  std::vector<Panel> pictures() override;
  std::pair<std::string, bool> best_figure() const override { return {"top1", true}; }
  void save_model(const std::filesystem::path& path, const std::string& provenance) override;
  TensorMap state() const override;
  void load_state(const TensorMap& tensors, const std::string& source) override;

 private:
  void train_mode(bool training);
  double neighbour_accuracy();

  ProbeTrainOptions options_;
  std::shared_ptr<Classifier> classifier_;
  std::unique_ptr<FeatureFeed> feed_;
  std::shared_ptr<const Dataset> validation_;
  std::unique_ptr<Learner> learner_;
  // The encoder is frozen, so these are computed once.
  LabelledFeatures held_out_;
  std::optional<double> neighbour_accuracy_;
};

}  // namespace addp
