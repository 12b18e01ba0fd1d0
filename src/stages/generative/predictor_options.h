// Options of `addp train predictor`. Free of libtorch.
#pragma once

#include "feed/token_options.h"
#include "train/options.h"

namespace addp {

struct PredictorTrainOptions {
  TrainOptions train;
  TokenOptions tokens;
  TransformerOptions network;
  double label_smoothing = 0.1;
  double mask_mean = 0.55, mask_deviation = 0.25, mask_lowest = 0.5, mask_highest = 1.0;
  std::int64_t class_ids = 1000;

  void describe(Options& o) {
    train.describe(o);
    tokens.describe(o);
    network.describe(o);
    o.add("class-ids", class_ids,
          "embeddings for classes beside the codes; the published networks have 1000")
        .range(1, 1e6);
    o.advanced_group("Masked tokens");
    o.add("label-smoothing", label_smoothing, "share of the target spread over the vocabulary")
        .range(0, 0.99);
    o.add("mask-mean", mask_mean, "of the truncated normal that mask ratios come from").range(0, 1);
    o.add("mask-deviation", mask_deviation, "its deviation").range(1e-6, 10);
    o.add("mask-lowest", mask_lowest,
          "lowest ratio, and the share of positions that the encoder never sees")
        .range(0, 1);
    o.add("mask-highest", mask_highest, "highest ratio").range(0, 1);
  }
};

}  // namespace addp
