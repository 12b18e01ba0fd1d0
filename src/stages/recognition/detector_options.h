// Options of `addp train detector`. Free of libtorch.
#pragma once

#include "stages/recognition/maps_options.h"
#include "train/options.h"

namespace addp {

struct DetectorTrainOptions {
  DetectorTrainOptions() { maps.scale_low = 0.1; }

  TrainOptions train;
  MapsOptions maps;
  std::vector<std::int64_t> strides = {4, 8, 16, 32, 64};
  std::int64_t channels = 256;
  double anchor_scale = 8;
  std::int64_t rpn_convs = 2;
  std::int64_t cells = 7, mask_cells = 14;
  std::int64_t box_convs = 4, box_width = 1024;
  std::int64_t mask_convs = 4, mask_channels = 256;
  double level_scale = 14;
  std::int64_t anchors = 256, proposals = 1000, regions = 512;
  double positive_share = 0.25;
  std::vector<std::string> only;
  double magnify = 0;

  void describe(Options& o) {
    train.describe(o);
    maps.describe(o);
    o.add("only", only, "of COCO's classes, those to learn, by name; the others are background")
        .metavar("NAME")
        .common();
    o.add("magnify", magnify,
          "for pictures of one scale, as of microscopes: each is enlarged by this and looked at in "
          "windows of --size, the more of them the larger it is; 0: each is fitted into --size")
        .range(0, 16)
        .common();
    o.advanced_group("Detector");
    o.add("strides", strides, "of the feature pyramid, each twice the one before");
    o.add("channels", channels, "of the feature pyramid").range(8, 4096);
    o.add("anchor-scale", anchor_scale, "side of a level's anchors over its stride").range(0.5, 64);
    o.add("rpn-convs", rpn_convs, "convolutions of the region proposal network").range(0, 16);
    o.add("cells", cells, "each way, of a region for its class and box").range(1, 64);
    o.add("mask-cells", mask_cells, "each way, of a region for its mask; masks have twice as many")
        .range(1, 64);
    o.add("box-convs", box_convs, "convolutions of the box head").range(0, 16);
    o.add("box-width", box_width, "of the box head's hidden layer").range(8, 8192);
    o.add("mask-convs", mask_convs, "convolutions of the mask head").range(0, 16);
    o.add("mask-channels", mask_channels, "of the mask head").range(8, 4096);
    o.add("level-scale", level_scale,
          "pixels of a region's side for each pixel of its level's stride")
        .range(0.5, 256);
    o.advanced_group("What a step looks at, for each picture");
    o.add("anchors", anchors, "anchors").range(2, 1e6);
    o.add("proposals", proposals, "proposals kept; the model keeps as many wherever it is used")
        .range(1, 1e6);
    o.add("regions", regions, "regions").range(1, 1e6);
    o.add("positive-share", positive_share, "largest share of regions that hold a thing")
        .range(0, 1);
  }
};

}  // namespace addp
