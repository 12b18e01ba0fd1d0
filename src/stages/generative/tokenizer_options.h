// Options of `addp train tokenizer`. Free of libtorch.
#pragma once

#include "tokenizer/vqgan_config.h"
#include "train/options.h"

namespace addp {

// What the discriminator looks at: pixels in overlapping patches, the features of LPIPS, or both.
enum class DiscriminatorKind { kPatch, kFeatures, kBoth };
// What it learns: each picture by itself (hinge), or a reconstruction beside its picture (paired).
enum class AdversarialLoss { kHinge, kPaired };

struct TokenizerTrainOptions {
  TrainOptions train;
  VqganConfig network;

  std::filesystem::path start;
  bool train_encoder = true;

  double crop = 0.8;
  bool turn = false;
  double l1 = 1;
  double l2 = 0;
  double perceptual = 1;
  double texture = 0;
  std::int64_t zoom = 1;
  std::filesystem::path lpips;
  double codebook = 1;
  double commitment = 0.25;

  DiscriminatorKind discriminator = DiscriminatorKind::kPatch;
  AdversarialLoss adversarial_loss = AdversarialLoss::kHinge;
  double adversarial = 0.1;
  std::int64_t adversarial_start = 10'000;
  std::int64_t discriminator_channels = 64;
  std::int64_t discriminator_layers = 3;
  double discriminator_lr = 1;
  double gradient_penalty = 0;
  bool grain = false;

  std::int64_t restart_every = 500;
  double restart_until = 0.6;

  void describe(Options& o) {
    train.describe(o);
    o.advanced_group("Network");
    o.add("channels", network.channels, "at the finest level").range(1, 4096).common();
    o.add("multipliers", network.multipliers,
          "of the channels, one per level; each further level halves the picture");
    o.add("blocks", network.blocks, "residual blocks per level").range(1, 64);
    o.add("codes", network.codes, "entries of the codebook").range(2, 1 << 20).common();
    o.add("code-width", network.code_width, "length of a code").range(1, 4096);
    o.add("stem", network.stem,
          "2: no layer at full resolution (strided first layer, pixel shuffle at the end)")
        .range(1, 16);
    o.add("unit-codes", network.unit_codes,
          "codes and features on the unit sphere, nearest by cosine");
    o.add("input-shortcut", network.input_shortcut,
          "usual residual where channels change, not the published variant");
    o.add("groups", network.groups, "of the normalisations; fewer for narrow networks")
        .range(1, 1024);
    o.add("finish", network.finish,
          "channels of a residual block at full resolution that ends the decoder; 0: none. With "
          "--start, a decoder without one gets it")
        .range(0, 4096);
    o.add("half-chroma", network.half_chroma,
          "colours at half resolution, as in JPEG and WebP files; with --start, also for a decoder "
          "that was trained without");
    o.add("start", start,
          "a trained tokenizer to go on from, with its sizes; empty: random weights")
        .common();
    o.add("train-encoder", train_encoder,
          "false: only the decoder learns, and tokens stay what they are for networks that were "
          "trained on them; needs --start");
    o.advanced_group("Losses");
    o.add("crop", crop, "smallest share of a picture's area in a random crop; 1: none")
        .range(0.01, 1);
    o.add("turn", turn,
          "also turn pictures by quarter turns: for pictures without an up, as of microscopes");
    o.add("l1", l1, "weight of the absolute error").range(0, 1e6);
    o.add("l2", l2, "weight of the squared error").range(0, 1e6);
    o.add("perceptual", perceptual, "weight of LPIPS; needs its weights").range(0, 1e6);
    o.add("texture", texture,
          "weight of how far the distributions of LPIPS's features lie apart, wherever in the "
          "pictures: brings back the grain that the other losses blur")
        .range(0, 1e6);
    o.add(
         "zoom", zoom,
         "LPIPS and what looks through it see pictures enlarged by 1, 2, 4 .. up to this, drawn anew "
         "for each step: its first layer is blind to what is finer than four pixels")
        .range(1, 16);
    o.add("lpips", lpips,
          "LPIPS weights; empty: lpips*.safetensors in the folder ADDP_WEIGHTS, or none")
        .common();
    o.add("codebook", codebook, "weight of what moves codes towards features").range(0, 1e6);
    o.add("commitment", commitment, "weight of what moves features towards codes").range(0, 1e6);
    o.advanced_group("Discriminator");
    o.add("adversarial", adversarial,
          "weight (beside the adaptive one where the loss is hinge); 0: no discriminator")
        .range(0, 1e6);
    o.add("adversarial-start", adversarial_start, "first step of the discriminator")
        .range(0, 1e12)
        .common();
    o.add_enum<DiscriminatorKind>(
        "discriminator", discriminator,
        {{"patch", DiscriminatorKind::kPatch},
         {"features", DiscriminatorKind::kFeatures},
         {"both", DiscriminatorKind::kBoth}},
        "patch: learned from pixels; features: small heads on the frozen features of LPIPS, which "
        "suits thousands of pictures, not millions");
    o.add_enum<AdversarialLoss>(
        "adversarial-loss", adversarial_loss,
        {{"hinge", AdversarialLoss::kHinge}, {"paired", AdversarialLoss::kPaired}},
        "hinge: each picture by itself, balanced by the adaptive weight, as VQGAN does; paired: a "
        "reconstruction beside its picture, which lets the discriminator win without silence");
    o.add("gradient-penalty", gradient_penalty,
          "weight of R1 on the patch discriminator, which then has no norms; 0: none")
        .range(0, 1e6);
    o.add("grain", grain,
          "show the patch discriminator the fine grain apart, too, eight times as strong");
    o.add("discriminator-lr", discriminator_lr, "its learning rate, as a multiple of --lr")
        .range(0, 1000);
    o.add("discriminator-channels", discriminator_channels, "of its first layer").range(8, 1024);
    o.add("discriminator-layers", discriminator_layers, "that halve the picture").range(1, 6);
    o.advanced_group("Codebook health");
    o.add("restart-every", restart_every,
          "steps after which unused codes become features again; 0: never")
        .range(0, 1e12);
    o.add("restart-until", restart_until, "share of the run after which they stay").range(0, 1);
  }
};

}  // namespace addp
