// Linear probing: a linear layer on the features of a frozen encoder, trained with LARS, and the
// accuracy of nearest neighbours among the same features beside it.
#pragma once

#include <optional>

#include "feed/feature_feed.h"
#include "heads/classify/classifier.h"
#include "stages/recognition/classifier_options.h"
#include "train/network_stage.h"

namespace addp {

class ProbeStage : public NetworkStage {
 public:
  ProbeStage(const ProbeTrainOptions& options, World& world);

  Metrics evaluate() override;
  std::vector<Panel> pictures() override;
  void save_model(const std::filesystem::path& path, const std::string& provenance) override;

 private:
  MicrobatchLoss microbatch_loss(const Microbatch& part) override;
  void training_mode() override;
  double neighbour_accuracy();

  ProbeTrainOptions options_;
  std::shared_ptr<Classifier> classifier_;
  std::unique_ptr<FeatureFeed> feed_;
  std::shared_ptr<const Dataset> validation_;
  // The encoder is frozen, so these are computed once.
  LabelledFeatures held_out_;
  std::optional<double> neighbour_accuracy_;
};

}  // namespace addp
