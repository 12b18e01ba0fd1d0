// Training a detector, with COCO's AP of boxes and masks on the validation split.
#pragma once

#include "eval/coco_ap.h"
#include "heads/detect_picture.h"
#include "train/dense_feed.h"
#include "train/detector_options.h"
#include "train/stage.h"

namespace addp {

class DetectorStage : public Stage {
 public:
  DetectorStage(const DetectorTrainOptions& options, World& world);

  std::string name() const override { return "detector"; }
  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::int64_t steps_per_epoch() const override { return feed_.steps_per_epoch(); }
  void seek(std::int64_t step) override { feed_.seek(step); }
  Metrics step(const StepContext& context) override;
  Metrics evaluate() override;
  std::vector<Panel> pictures() override;
  std::pair<std::string, bool> best_figure() const override { return {"box_ap", true}; }
  void save_model(const std::filesystem::path& path, const std::string& provenance) override;
  TensorMap state() const override;
  void load_state(const TensorMap& tensors, const std::string& source) override;
  double activation_bytes() const override;

 private:
  DetectorLimits limits() const;

  DetectorTrainOptions options_;
  World& world_;
  DenseFeed feed_;
  std::shared_ptr<const Dataset> validation_;
  std::shared_ptr<Detector> network_;
  std::unique_ptr<Learner> learner_;
};

}  // namespace addp
