// Fine-tuning an encoder, or training it from scratch, as an image classifier.
#pragma once

#include "data/set/dataset.h"
#include "feed/picture_feed.h"
#include "heads/classify/classifier.h"
#include "stages/recognition/classifier_options.h"
#include "train/network_stage.h"

namespace addp {

class ClassifierStage : public NetworkStage {
 public:
  ClassifierStage(const ClassifierTrainOptions& options, World& world);

  Metrics evaluate() override;
  std::vector<Panel> pictures() override;
  void save_model(const std::filesystem::path& path, const std::string& provenance) override;
  double activation_bytes() const override;

  Classifier& classifier() { return *classifier_; }

 private:
  MicrobatchLoss microbatch_loss(const Microbatch& part) override;
  Tensor loss_of(const Tensor& logits, const Tensor& targets) const;

  ClassifierTrainOptions options_;
  PictureFeed feed_;
  std::shared_ptr<const Dataset> validation_;
  std::shared_ptr<Classifier> classifier_;
};

// A classifier of what `dataset` shows, for pictures of `size`.
ClassifierConfig classifier_of(const BackboneConfig& backbone, const Dataset& dataset,
                               std::int64_t size, double crop);

// What the classifier says about a few held-out pictures.
Panel prediction_panel(Classifier& classifier, const std::shared_ptr<const Dataset>& validation);

}  // namespace addp
