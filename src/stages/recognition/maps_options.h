// What training a segmenter and a detector have in common: where the encoder comes from and how it
// is changed for maps. Free of libtorch.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/option/options.h"
#include "stages/recognition/backbone_options.h"

namespace addp {

struct MapsOptions {
  BackboneOptions backbone;
  std::filesystem::path start;
  std::int64_t window = 0;
  bool relative_positions = true;
  bool freeze_norm = false;
  double drop_path = 0.1;
  double layer_decay = 1;
  double scale_low = 0.5, scale_high = 2;
  bool flip = true;
  bool turn = false;
  std::int64_t eval_pictures = 0;

  void describe(Options& o) {
    backbone.describe(o);
    o.add("start", start,
          "a trained model of this kind and these sizes to go on from, encoder and head (a name, a "
          "folder, a file); empty: as --model says")
        .common();
    o.add("window", window,
          "side of a ViT's attention windows in patches; the last block of each quarter attends "
          "globally; 0: all blocks")
        .range(0, 1024)
        .advanced();
    o.add("relative-positions", relative_positions, "in a ViT's attention").advanced();
    o.add(
         "freeze-norm", freeze_norm,
         "a ResNet's batch norms keep the statistics they have: to end the training of small batches "
         "with, whose statistics are not those that the network is used with")
        .advanced();
    o.add("drop-path", drop_path, "stochastic depth of a ViT").range(0, 0.99).advanced();
    o.add("layer-decay", layer_decay, "learning rate of a ViT's block over that of the next one")
        .range(0.01, 1)
        .advanced();
    o.advanced_group("Pictures");
    o.add("scale-low", scale_low, "pictures are scaled at random, from this times --size")
        .range(0.01, 100);
    o.add("scale-high", scale_high, "to this times --size").range(0.01, 100);
    o.add("flip", flip, "mirror half of the pictures");
    o.add("turn", turn,
          "also turn pictures by quarter turns: for pictures without an up, as of microscopes");
    o.add("eval-pictures", eval_pictures, "pictures of an evaluation; 0: all of the split")
        .range(0, 1e9);
  }
};

}  // namespace addp
