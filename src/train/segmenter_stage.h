// Training a segmenter: UperNet on a pre-trained or new encoder, with mIoU on the validation split.
#pragma once

#include "heads/segment_picture.h"
#include "train/dense_feed.h"
#include "train/segmenter_options.h"
#include "train/stage.h"

namespace addp {

class SegmenterStage : public Stage {
 public:
  SegmenterStage(const SegmenterTrainOptions& options, World& world);

  std::string name() const override { return "segmenter"; }
  std::vector<Learner*> learners() override { return {learner_.get()}; }
  std::int64_t steps_per_epoch() const override { return feed_.steps_per_epoch(); }
  void seek(std::int64_t step) override { feed_.seek(step); }
  Metrics step(const StepContext& context) override;
  Metrics evaluate() override;
  std::vector<Panel> pictures() override;
  std::pair<std::string, bool> best_figure() const override { return {"miou", true}; }
  void save_model(const std::filesystem::path& path, const std::string& provenance) override;
  TensorMap state() const override;
  void load_state(const TensorMap& tensors, const std::string& source) override;
  double activation_bytes() const override;

 private:
  SegmentOptions test_options() const;

  SegmenterTrainOptions options_;
  World& world_;
  DenseFeed feed_;
  std::shared_ptr<const Dataset> validation_;
  std::shared_ptr<Segmenter> network_;
  std::unique_ptr<Learner> learner_;
};

}  // namespace addp
