// Options of `addp train addp`, every switch of the paper's ablations among them. Free of libtorch.
#pragma once

#include "diffusion/options.h"
#include "feed/token_options.h"
#include "train/options.h"

namespace addp {

struct AddpTrainOptions {
  TrainOptions train;
  TokenOptions tokens;
  TransformerOptions network;
  std::filesystem::path predictor;
  std::string encoder = "vit";
  DiffusionOptions diffusion;
  TokenInput token_input = TokenInput::kDecoder;
  std::int64_t class_ids = 1000;
  std::int64_t sample_steps = 16;

  void describe(Options& o) {
    train.describe(o);
    tokens.describe(o);
    o.add("predictor", predictor,
          "the frozen token predictor: a folder that 'addp train predictor' wrote, or a file")
        .required();
    network.describe(o);
    o.add("encoder", encoder, "what sees the pixels")
        .choices({"vit", "resnet50", "resnet-nano", "resnet-pico"})
        .common();
    o.add("class-ids", class_ids,
          "embeddings for classes beside the codes; the published networks have 1000")
        .range(1, 1e6);
    o.advanced_group("Diffusion (the paper's ablations)");
    o.add_enum<Mapping>("mapping", diffusion.mapping, mapping_names(),
                        "how the distribution of unreliable tokens becomes pixels");
    o.add_enum<Condition>(
        "condition", diffusion.condition, {{"next", Condition::kNext}, {"same", Condition::kSame}},
        "unreliable tokens are predicted from z_{t+1} (next) or from z_t itself (same)");
    o.add_enum<TokenInput>("token-input", token_input,
                           {{"decoder", TokenInput::kDecoder},
                            {"encoder-decoder", TokenInput::kEncoderAndDecoder},
                            {"none", TokenInput::kNone}},
                           "where reliable tokens enter beside the pixels");
    o.add_enum<Target>(
        "target", diffusion.target,
        {{"predictor", Target::kPredictor}, {"truth", Target::kTruth}, {"both", Target::kBoth}},
        "what is learned: the predictor's distribution q, the true token, or both");
    o.add("timesteps", diffusion.mask.steps, "T: mask ratios are cos(pi/2 t/T)").range(1, 1e6);
    o.add("mask-mean", diffusion.mask.mean, "of the truncated normal over mask ratios").range(0, 1);
    o.add("mask-deviation", diffusion.mask.deviation, "its deviation").range(1e-6, 10);
    o.add("mask-lowest", diffusion.mask.lowest, "lowest mask ratio").range(0, 1);
    o.add("mask-highest", diffusion.mask.highest, "mask ratios stay below this").range(0, 1);
    o.add("mask-fixed", diffusion.mask.fixed, "one mask ratio for all; 0: the distribution")
        .range(0, 1);
    o.add("delta-low", diffusion.mask.delta_low,
          "z_{t+1} is so many mask ratios further than z_t, uniform from this")
        .range(1, 1e6);
    o.add("delta-high", diffusion.mask.delta_high, "to this").range(1, 1e6);
    o.add("label-smoothing", diffusion.label_smoothing,
          "share of the target spread over the vocabulary")
        .range(0, 0.99);
    o.add("predictor-dropout", diffusion.predictor_dropout,
          "leave the frozen predictor's dropout active, as the released program does");
    o.advanced_group("Records");
    o.add("sample-steps", sample_steps, "steps of the samples that are shown while training")
        .range(1, 4096);
  }
};

}  // namespace addp
