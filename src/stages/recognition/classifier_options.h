// Options of `addp train classifier` and `addp train probe`. Free of libtorch.
#pragma once

#include <filesystem>
#include <string>

#include "stages/recognition/backbone_options.h"
#include "train/options.h"

namespace addp {

enum class ClassLoss { kCrossEntropy, kBinary };

struct ClassifierTrainOptions {
  TrainOptions train;
  BackboneOptions backbone;

  double layer_decay = 0.65;
  double drop_path = 0.1;
  ClassLoss loss = ClassLoss::kCrossEntropy;
  double label_smoothing = 0.1;
  double bce_threshold = 0;

  double crop = 0.08;
  bool flip = true;
  bool turn = false;
  double augment = 9;
  double augment_deviation = 0.5;
  double erasing = 0.25;
  double mixup = 0.8;
  double cutmix = 1;
  std::int64_t repeats = 1;
  double label_share = 1;
  double eval_crop = 1;

  ClassifierTrainOptions() { train.beta2 = 0.999; }

  void describe(Options& o) {
    train.describe(o);
    backbone.describe(o);
    o.advanced_group("Fine-tuning");
    o.add("layer-decay", layer_decay,
          "a layer's learning rate over that of the next one; 1: the same for all")
        .range(0.01, 1)
        .common();
    o.add("drop-path", drop_path, "stochastic depth of the last block").range(0, 0.99);
    o.add_enum<ClassLoss>("loss", loss,
                          {{"ce", ClassLoss::kCrossEntropy}, {"bce", ClassLoss::kBinary}},
                          "cross-entropy, or binary cross-entropy per class");
    o.add("label-smoothing", label_smoothing, "share of the target spread over all classes")
        .range(0, 0.99);
    o.add("bce-threshold", bce_threshold,
          "with bce: targets above this become 1, others 0; 0: targets stay as they are")
        .range(0, 1);
    o.add(
         "label-share", label_share,
         "share of the training pictures of each class to learn from, drawn by --seed; at least one")
        .range(1e-9, 1)
        .common();
    o.advanced_group("Augmentation");
    o.add("crop", crop, "smallest share of a picture's area in a random crop").range(0.01, 1);
    o.add("flip", flip, "mirror half of the pictures");
    o.add("turn", turn,
          "also turn pictures by quarter turns: for pictures without an up, as of microscopes");
    o.add("augment", augment, "magnitude of RandAugment; 0: none").range(0, 10).common();
    o.add("augment-deviation", augment_deviation, "of the magnitude").range(0, 10);
    o.add("erasing", erasing, "probability of random erasing").range(0, 1);
    o.add("mixup", mixup, "alpha of mixup; 0: none").range(0, 100).common();
    o.add("cutmix", cutmix, "alpha of cutmix; 0: none; with both, one of them per batch")
        .range(0, 100);
    o.add("repeats", repeats, "repeated augmentation: how often a picture comes in a row")
        .range(1, 64);
    o.advanced_group("Evaluation");
    o.add("eval-crop", eval_crop, "share of the middle square's side that is looked at")
        .range(0.1, 1);
  }
};

struct ProbeTrainOptions {
  TrainOptions train;
  BackboneOptions backbone;

  std::int64_t block = 0;
  std::string position = "mean";
  double momentum = 0.9;
  double crop = 0.08;
  bool flip = true;
  std::int64_t views = 0;
  std::int64_t neighbours = 20;
  double eval_crop = 1;

  ProbeTrainOptions() {
    train.weight_decay = 0;
    train.blr = 0.1;
  }

  void describe(Options& o) {
    train.describe(o);
    backbone.describe(o);
    o.advanced_group("Probing");
    o.add("block", block,
          "probe behind this block of a transformer, counted from 1; 0: behind the last one")
        .range(0, 256)
        .common();
    o.add("position", position, "what is probed: the mean over the cells, or the class position")
        .choices({"mean", "class"})
        .common();
    o.add("momentum", momentum, "of LARS").range(0, 1);
    o.add("crop", crop, "smallest share of a picture's area in a random crop").range(0.01, 1);
    o.add("flip", flip, "mirror half of the pictures");
    o.add("feature-views", views,
          "views of each picture whose features are computed once and kept in "
          "OUT/features.safetensors: the first is the middle square, the others are random crops; "
          "0: every crop is new, as in the paper")
        .range(0, 1000)
        .common();
    o.add("neighbours", neighbours, "k of the nearest-neighbour figure; 0: none")
        .range(0, 10000)
        .common();
    o.advanced_group("Evaluation");
    o.add("eval-crop", eval_crop, "share of the middle square's side that is looked at")
        .range(0.1, 1);
  }
};

}  // namespace addp
