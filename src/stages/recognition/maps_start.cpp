#include "stages/recognition/maps_start.h"

#include "base/error.h"
#include "nn/torch.h"
#include "stages/recognition/backbone_start.h"
#include "train/stage.h"

namespace addp {

MapsStart start_maps(const MapsOptions& options, std::int64_t size) {
  BackboneStart start = start_backbone(options.backbone, size);
  MapsStart choice{
      .config = {.backbone = fine_tuning_backbone(start.config, start.grid, options.drop_path),
                 .window = options.window,
                 .relative_positions = options.relative_positions,
                 .frozen_norm = options.freeze_norm},
      .tokenizer = std::move(start.tokenizer),
      .pretrained = std::move(start.file)};
  const BackboneConfig& backbone = choice.config.backbone;
  const std::int64_t step =
      backbone.is_transformer() ? 1 : backbone.encoder.resnet.trunk.strides().back();
  if (size % step != 0) {
    throw UsageError("--size {} is no multiple of the encoder's {} pixels: choose one", size, step);
  }
  return choice;
}

PicturePass measured_pictures(const MapsOptions& options, const TrainOptions& train,
                              const World& world) {
  return {.limit = options.eval_pictures,
          .threads = train.workers,
          .rank = world.rank(),
          .world = world.size(),
          .max_broken = 1,
          .when_interrupted = ""};
}

PicturePass shown_pictures() {
  return {.limit = kShownPictures,
          .order = PassOrder::kSpread,
          .max_broken = 1,
          .when_interrupted = ""};
}

}  // namespace addp
