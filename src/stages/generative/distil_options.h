// Options of `addp distil`. Free of libtorch.
#pragma once

#include "generate/options.h"
#include "train/options.h"

namespace addp {

struct DistilOptions {
  TrainOptions train;
  std::filesystem::path model, tokenizer;
  std::int64_t width = 0, blocks = 4, skip = -1;
  std::int64_t passes = 4;
  SamplerOptions sampler;

  DistilOptions() {
    train.steps = 3000;
    train.batch_size = 64;
    train.lr = 1e-3;
    train.warmup_steps = 100;
    train.weight_decay = 0.01;
    train.clip = 1;
    train.ema = 0.998;
  }

  void describe(Options& o) {
    train.describe(o, /*pictures=*/false);
    o.group("What to prepare");
    o.add("model", model,
          "a name of 'addp models', a folder that 'addp train addp' wrote, or a published "
          "checkpoint")
        .required();
    o.add("tokenizer", tokenizer, "tokenizer of a published checkpoint that has none inside");
    o.advanced_group("Network");
    o.add("width", width, "channels; 0: a third of the encoder's width").range(0, 8192);
    o.add("blocks", blocks, "residual blocks of two convolutions each").range(0, 64);
    o.add("skip", skip,
          "blocks of the encoder that it stands for, beside the pixels: each saves time and costs "
          "likeness; -1: a third of them, none where tokens enter the encoder")
        .range(-1, 1024);
    o.advanced_group("Trajectories to learn from");
    o.add("sample-steps", sampler.steps, "steps of a trajectory").range(2, 4096);
    o.add("passes", passes,
          "how often the states of a trajectory are used before new ones are made")
        .range(1, 1000);
    o.add("temperature", sampler.temperature, "of the noise on confidences").range(0, 1e6);
    o.add("top-p", sampler.top_p,
          "tokens are drawn from the likeliest that make up this probability")
        .range(1e-6, 1);
    o.add_enum<Mapping>("mapping", sampler.mapping, mapping_names(),
                        "how the distribution of unreliable tokens becomes pixels");
    o.add("guidance", sampler.guidance, "how strongly classes count, where the model knows any")
        .range(0, 100);
  }
};

}  // namespace addp
