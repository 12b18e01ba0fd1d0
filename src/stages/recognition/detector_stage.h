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

  Metrics evaluate() override;
  std::vector<Panel> pictures() override;
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
