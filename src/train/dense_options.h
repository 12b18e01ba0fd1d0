// What training a segmenter and a detector have in common: where the encoder comes from and how it
// is changed for maps. Free of libtorch.
#pragma once

#include <filesystem>
#include <string>

#include "base/options.h"

namespace addp {

struct DenseOptions {
  std::filesystem::path model;
  std::string preset = "base";
  std::int64_t patch = 16;
  std::int64_t window = 0;
  bool relative_positions = true;
  bool freeze_norm = false;
  double drop_path = 0.1;
  double layer_decay = 1;
  double scale_low = 0.5, scale_high = 2;
  bool flip = true;
  std::int64_t eval_pictures = 0;

  void describe(Options& o) {
    o.group("Encoder");
    o.add("model", model,
          "the pre-trained encoder: a folder that 'addp train addp' wrote, or a file; empty: from "
          "scratch");
    o.add("preset", preset,
          "encoder where there is no --model: nano, tiny, small, base, large, resnet-nano or "
          "resnet50")
        .metavar("NAME");
    o.add("patch", patch, "pixels of a ViT's patch where there is no --model").range(2, 64);
    o.add("window", window,
          "side of a ViT's attention windows in patches; the last block of each quarter attends "
          "globally; 0: all blocks")
        .range(0, 1024);
    o.add("relative-positions", relative_positions, "in a ViT's attention");
    o.add("freeze-norm", freeze_norm, "a ResNet's batch norms keep the statistics they have");
    o.add("drop-path", drop_path, "stochastic depth of a ViT").range(0, 0.99);
    o.add("layer-decay", layer_decay, "learning rate of a ViT's block over that of the next one")
        .range(0.01, 1);
    o.group("Pictures");
    o.add("scale-low", scale_low, "pictures are scaled at random, from this times --size")
        .range(0.01, 100);
    o.add("scale-high", scale_high, "to this times --size").range(0.01, 100);
    o.add("flip", flip, "mirror half of the pictures");
    o.add("eval-pictures", eval_pictures, "pictures of an evaluation; 0: all of the split")
        .range(0, 1e9);
  }
};

}  // namespace addp
