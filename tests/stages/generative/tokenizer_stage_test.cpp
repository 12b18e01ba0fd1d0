// A tokenizer that goes on from a trained one, against a discriminator on frozen features.
#include "stages/generative/tokenizer_stage.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/log.h"
#include "base/run/progress.h"
#include "checkpoint/format/safetensors.h"
#include "model/init.h"
#include "model/load.h"
#include "nn/torch.h"
#include "support/small_tokenizer.h"
#include "support/temporary_folder.h"
#include "tokenizer/vqgan_file.h"
#include "train/trainer.h"

namespace addp {
namespace {

using testing::TemporaryFolder;

// A file in the form of LPIPS' weights, with random ones: the arithmetic is the same.
void write_lpips(const std::filesystem::path& path) {
  constexpr std::array<std::int64_t, 5> kInputs = {3, 64, 192, 384, 256};
  constexpr std::array<std::int64_t, 5> kKernels = {11, 5, 3, 3, 3};
  constexpr std::array<int, 5> kNumbers = {0, 3, 6, 8, 10};
  TensorMap tensors;
  const RandomStream stream(5, "lpips");
  for (std::size_t i = 0; i < 5; ++i) {
    const std::int64_t out = Lpips::kChannels[i], kernel = kKernels[i];
    const Tensor weight = torch::empty({out, kInputs[i], kernel, kernel});
    fill_normal(weight, 1 / std::sqrt(double(kInputs[i] * kernel * kernel)), stream.fork("w", i));
    const std::string key = "features." + std::to_string(kNumbers[i]);
    tensors[key + ".weight"] = to_view(weight);
    tensors[key + ".bias"] = to_view(torch::zeros({out}));
    tensors["lin" + std::to_string(i) + ".weight"] = to_view(torch::ones({1, out, 1, 1}));
  }
  write_safetensors(path, tensors, {});
}

class TokenizerStages : public ::testing::Test {
 protected:
  TokenizerTrainOptions options(const std::string& out, std::int64_t steps) {
    set_progress_quiet(true);
    set_log_quiet(true);
    TokenizerTrainOptions options;
    options.train.data = "shapes:size=32,count=16,val=4,seed=1";
    options.train.out = folder_.path() / out;
    options.train.size = 32;
    options.train.batch_size = 4;
    options.train.steps = steps;
    options.train.lr = 1e-3;
    options.train.workers = 1;
    options.network = testing::small_tokenizer();
    options.lpips = folder_.path() / "lpips.safetensors";
    options.discriminator = DiscriminatorKind::kFeatures;
    options.discriminator_channels = 8;
    options.adversarial_start = 0;
    return options;
  }

  void run(const TokenizerTrainOptions& options) {
    World world;
    TokenizerStage stage(options, world);
    train(stage, options.train, world, {false, "addp train tokenizer", ""});
  }

  TemporaryFolder folder_;
};

TEST_F(TokenizerStages, OnlyTheDecoderLearnsWhereTheEncoderIsKept) {
  write_lpips(folder_.path() / "lpips.safetensors");
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
  write_lpips(folder_.path() / "lpips.safetensors");
  const TokenizerTrainOptions chosen = options("run", 2);
  run(chosen);
  const Safetensors saved = read_safetensors(folder_.path() / "run/last.safetensors");
  World world;
  TokenizerStage stage(chosen, world);
  stage.load_state(saved.tensors, "last");
  for (const auto& [name, view] : stage.state()) {
    EXPECT_TRUE(torch::equal(to_torch(view), to_torch(saved.tensors.at(name)))) << name;
  }
  EXPECT_TRUE(saved.tensors.contains("discriminator.model.head0_in.left"));
}

TEST_F(TokenizerStages, WhatCannotBeIsRefused) {
  World world;
  TokenizerTrainOptions blind = options("a", 1);
  blind.lpips.clear();
  blind.perceptual = 0;
  EXPECT_THROW(TokenizerStage(blind, world), UsageError);
  TokenizerTrainOptions frozen = options("b", 1);
  frozen.adversarial = frozen.perceptual = 0;
  frozen.train_encoder = false;
  EXPECT_THROW(TokenizerStage(frozen, world), UsageError);
}

}  // namespace
}  // namespace addp
