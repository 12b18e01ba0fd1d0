// Training a detector, with COCO's AP of boxes and masks on the validation split.
#pragma once

#include "eval/recognition/coco_ap.h"
#include "feed/annotated_feed.h"
#include "heads/detect/detect_picture.h"
#include "stages/recognition/detector_options.h"
#include "train/network_stage.h"

namespace addp {

class DetectorStage : public NetworkStage {
 public:
  DetectorStage(const DetectorTrainOptions& options, World& world);

  std::int64_t steps_per_epoch() const override { return feed_.steps_per_epoch(); }
  void seek(std::int64_t step) override { feed_.seek(step); }
  Metrics evaluate() override;
  std::vector<Panel> pictures() override;
  std::pair<std::string, bool> best_figure() const override { return {"box_ap", true}; }
  void save_model(const std::filesystem::path& path, const std::string& provenance) override;
  double activation_bytes() const override;

 private:
  MicrobatchLoss microbatch_loss(const Microbatch& part) override;

  DetectorTrainOptions options_;
  AnnotatedFeed feed_;
  std::shared_ptr<const Dataset> validation_;
  std::shared_ptr<Detector> network_;
};

}  // namespace addp
