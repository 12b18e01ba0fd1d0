#include "commands/start/demo_stages.h"

#include <algorithm>
#include <cmath>

#include "base/interrupt.h"
#include "base/log.h"
#include "nn/torch.h"
#include "stages/recognition/make_stage.h"

namespace addp {
namespace {

constexpr int kSeveral = 4;  // shapes

std::int64_t demo_steps(double steps, const DemoOptions& options) {
  return std::max<std::int64_t>(4, std::llround(steps * options.scale));
}

MapsOptions maps_options(const DemoOptions& options) {
  MapsOptions maps;
  maps.backbone.model = options.out / "addp";
  maps.layer_decay = 1;
  maps.drop_path = 0;
  maps.scale_low = maps.scale_high = 1;
  maps.eval_pictures = 128;
  return maps;
}

ClassifierTrainOptions classifier_options(const DemoOptions& options) {
  ClassifierTrainOptions stage;
  stage.train = demo_training(options, "classifier", 150, 64);
  stage.backbone.model = options.out / "addp";
  stage.layer_decay = 1;
  stage.drop_path = 0;
  stage.crop = 0.8;
  stage.augment = stage.erasing = stage.mixup = stage.cutmix = 0;
  return stage;
}

DetectorTrainOptions detector_options(const DemoOptions& options) {
  DetectorTrainOptions stage;
  stage.train = demo_training(options, "detector", 350, 16);
  stage.train.data = demo_data(options, kSeveral);
  stage.maps = maps_options(options);
  stage.strides = {2, 4, 8, 16};
  stage.channels = 48;
  stage.anchor_scale = 3;
  stage.rpn_convs = 1;
  stage.box_convs = 1;
  stage.box_width = 128;
  stage.mask_cells = 7;
  stage.mask_convs = 2;
  stage.mask_channels = 32;
  stage.level_scale = 4;
  stage.anchors = stage.proposals = 64;
  stage.regions = 32;
  stage.positive_share = 0.4;
  return stage;
}

SegmenterTrainOptions segmenter_options(const DemoOptions& options) {
  SegmenterTrainOptions stage;
  stage.train = demo_training(options, "segmenter", 300, 16);
  stage.train.data = demo_data(options, kSeveral);
  stage.maps = maps_options(options);
  stage.channels = stage.auxiliary_channels = 32;
  stage.dropout = 0;
  stage.max_share = 1;
  return stage;
}

}  // namespace

std::string demo_data(const DemoOptions& options, int objects) {
  return fmt::format("shapes:size={},count=4000,seed={},objects={},plain=1", kDemoSide,
                     options.seed, objects);
}

TrainOptions demo_training(const DemoOptions& options, const char* stage, double steps,
                           std::int64_t batch) {
  TrainOptions train;
  train.data = demo_data(options, 1);
  train.out = options.out / stage;
  train.size = kDemoSide;
  train.seed = options.seed;
  train.steps = demo_steps(steps, options);
  train.warmup_steps = train.steps / 20;
  train.batch_size = batch;
  train.lr = 1e-3;
  train.min_lr = 1e-5;
  train.clip = 3;
  train.ema = 0.99;
  train.save_every = std::max<std::int64_t>(1, train.steps / 4);
  train.picture_every = train.save_every;
  return train;
}

void train_recognisers(const DemoOptions& options, const RunContext& context,
                       std::vector<DemoRow>& rows) {
  const auto add = [&](DemoRow row, const char* caption) {
    row.caption = caption;
    rows.push_back(std::move(row));
  };
  note("4 of 6: the encoder learns to name what a picture shows");
  add(run_demo_stage(classifier_options(options), context), "Classes of held-out pictures.");
  note("5 of 6: the encoder learns to find things");
  add(run_demo_stage(detector_options(options), context), "Boxes and masks in held-out pictures.");
  note("6 of 6: the encoder learns to label every pixel");
  add(run_demo_stage(segmenter_options(options), context), "Label maps of held-out pictures.");
}

}  // namespace addp
