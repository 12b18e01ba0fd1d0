// Training a segmenter: UperNet on a pre-trained or new encoder, with mIoU on the validation split.
#pragma once

#include "feed/annotated_feed.h"
#include "heads/segment/segment_picture.h"
#include "stages/recognition/segmenter_options.h"
#include "train/network_stage.h"

namespace addp {

class SegmenterStage : public NetworkStage {
 public:
  SegmenterStage(const SegmenterTrainOptions& options, World& world);

  Metrics evaluate() override;
  std::vector<Panel> pictures() override;
  void save_model(const std::filesystem::path& path, const std::string& provenance) override;
  double activation_bytes() const override;

 private:
  MicrobatchLoss microbatch_loss(const Microbatch& part) override;
  LabelingOptions test_options() const;

  SegmenterTrainOptions options_;
  AnnotatedFeed feed_;
  std::shared_ptr<const Dataset> validation_;
  std::shared_ptr<Segmenter> network_;
};

}  // namespace addp
