// A tokenizer that goes on from a trained one, against a discriminator on frozen features.
#include <gtest/gtest.h>

#include "base/error.h"
#include "checkpoint/format/safetensors.h"
#include "model/load.h"
#include "nn/torch.h"
#include "stages/generative/make_stage.h"
#include "support/small_lpips.h"
#include "support/small_run.h"
#include "support/small_tokenizer.h"
#include "support/temporary_folder.h"
#include "tokenizer/vqgan_file.h"
#include "train/trainer.h"

namespace addp {
namespace {

using testing::TemporaryFolder;

class TokenizerStages : public ::testing::Test {
 protected:
  TokenizerTrainOptions options(const std::string& out, std::int64_t steps) {
    TokenizerTrainOptions options;
    testing::set_small_run(options.train, folder_.path() / out, steps);
    options.network = testing::small_tokenizer();
    options.lpips = folder_.path() / "lpips.safetensors";
    options.discriminator = DiscriminatorKind::kFeatures;
    options.discriminator_channels = 8;
    options.adversarial_start = 0;
    return options;
  }

  void run(const TokenizerTrainOptions& options) {
    World world;
    const auto stage = make_stage(options, world);
    train(*stage, options.train, world, {false, "addp train tokenizer", ""});
  }

  TemporaryFolder folder_;
};

TEST_F(TokenizerStages, OnlyTheDecoderLearnsWhereTheEncoderIsKept) {
  write_safetensors(folder_.path() / "lpips.safetensors", testing::small_lpips());
  run(options("first", 2));
  TokenizerTrainOptions further = options("second", 3);
  further.start = folder_.path() / "first";
  further.train_encoder = false;
  run(further);
  const auto before = load_tokenizer(folder_.path() / "first")->named_parameters();
  for (const auto& item : load_tokenizer(folder_.path() / "second")->named_parameters()) {
    const bool same = torch::equal(item.value(), before[item.key()]);
    EXPECT_EQ(same, !item.key().starts_with("decoder.")) << item.key();
  }
}

TEST_F(TokenizerStages, ItsDiscriminatorIsPartOfWhatAResumeReads) {
  write_safetensors(folder_.path() / "lpips.safetensors", testing::small_lpips());
  const TokenizerTrainOptions chosen = options("run", 2);
  run(chosen);
  const Safetensors saved = read_safetensors(folder_.path() / "run/last.safetensors");
  World world;
  const auto stage = make_stage(chosen, world);
  stage->load_state(saved.tensors, "last");
  for (const auto& [name, view] : stage->state()) {
    EXPECT_TRUE(torch::equal(to_torch(view), to_torch(saved.tensors.at(name)))) << name;
  }
  EXPECT_TRUE(saved.tensors.contains("discriminator.model.heads.head0_in.left"));
}

TEST_F(TokenizerStages, AFinishIsAddedToATrainedDecoderAndLearns) {
  write_safetensors(folder_.path() / "lpips.safetensors", testing::small_lpips());
  run(options("first", 2));
  TokenizerTrainOptions further = options("second", 10);
  further.start = folder_.path() / "first";
  further.train_encoder = false;
  further.network.finish = 8;
  further.zoom = 4;
  further.texture = 1;
  further.discriminator = DiscriminatorKind::kBoth;
  further.discriminator_layers = 1;
  further.adversarial_loss = AdversarialLoss::kPaired;
  further.gradient_penalty = 1;
  run(further);
  const auto learned = load_tokenizer(folder_.path() / "second");
  EXPECT_EQ(learned->config().finish, 8);
  const auto weights = learned->named_parameters();
  EXPECT_GT(weights["decoder.finish.conv_out.weight"].abs().max().item<double>(), 0);
  EXPECT_TRUE(torch::equal(
      weights["encoder.conv_in.weight"],
      load_tokenizer(folder_.path() / "first")->named_parameters()["encoder.conv_in.weight"]));
}

TEST_F(TokenizerStages, BothDiscriminatorsResumeExactly) {
  write_safetensors(folder_.path() / "lpips.safetensors", testing::small_lpips());
  const auto both = [&](const std::string& out, std::int64_t steps) {
    TokenizerTrainOptions chosen = options(out, steps);
    chosen.discriminator = DiscriminatorKind::kBoth;
    chosen.discriminator_layers = 1;
    chosen.adversarial_loss = AdversarialLoss::kPaired;
    chosen.gradient_penalty = 1;
    chosen.train.min_lr = chosen.train.lr;  // the rate does not know how long the run is
    return chosen;
  };
  run(both("whole", 4));
  run(both("parts", 2));
  run(both("parts", 4));
  const Safetensors whole = read_safetensors(folder_.path() / "whole/last.safetensors");
  const Safetensors parts = read_safetensors(folder_.path() / "parts/last.safetensors");
  ASSERT_EQ(whole.tensors.size(), parts.tensors.size());
  for (const auto& [name, view] : whole.tensors) {
    EXPECT_TRUE(torch::equal(to_torch(view), to_torch(parts.tensors.at(name)))) << name;
  }
}

TEST_F(TokenizerStages, WhatCannotBeIsRefused) {
  World world;
  TokenizerTrainOptions blind = options("a", 1);
  blind.lpips.clear();
  blind.perceptual = 0;
  EXPECT_THROW(make_stage(blind, world), UsageError);
  TokenizerTrainOptions frozen = options("b", 1);
  frozen.adversarial = frozen.perceptual = 0;
  frozen.train_encoder = false;
  EXPECT_THROW(make_stage(frozen, world), UsageError);
}

}  // namespace
}  // namespace addp
