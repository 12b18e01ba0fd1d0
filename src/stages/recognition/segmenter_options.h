// Options of `addp train segmenter`. Free of libtorch.
#pragma once

#include "stages/recognition/maps_options.h"
#include "train/options.h"

namespace addp {

struct SegmenterTrainOptions {
  TrainOptions train;
  MapsOptions maps;
  std::int64_t channels = 512;
  std::int64_t auxiliary_channels = 256;
  double auxiliary = 0.4;
  double dropout = 0.1;
  double max_share = 0.75;
  std::int64_t ignore_label = -1;
  std::string zero_label = "auto";
  std::int64_t classes = 0;
  std::vector<double> test_scales = {1};
  bool test_flip = false;

  void describe(Options& o) {
    train.describe(o);
    maps.describe(o);
    o.add("max-share", max_share, "largest share of one class in a crop; another is tried")
        .range(0, 1);
    o.advanced_group("Labels");
    o.add("ignore-label", ignore_label,
          "number in the label maps that does not count beside 255; -1: a class called void")
        .range(-1, 255);
    o.add("zero-label", zero_label,
          "0 in the label maps: the first class, ignored (classes count from 1, as in ADE20k), or "
          "found out from the set")
        .choices({"auto", "class", "ignore"})
        .common();
    o.add("classes", classes, "number of classes where no classes.txt lists them; 0: counted")
        .range(0, 254)
        .common();
    o.advanced_group("Head");
    o.add("channels", channels, "of UperNet").range(8, 4096);
    o.add("auxiliary-channels", auxiliary_channels, "of the auxiliary head").range(8, 4096);
    o.add("auxiliary", auxiliary, "weight of the auxiliary head's loss").range(0, 100);
    o.add("head-dropout", dropout, "of channels before the classifiers").range(0, 0.99);
    o.advanced_group("Evaluation");
    o.add("test-scales", test_scales, "scales whose probabilities are averaged").range(0.05, 20);
    o.add("test-flip", test_flip, "average with the mirrored picture, too");
  }
};

}  // namespace addp
