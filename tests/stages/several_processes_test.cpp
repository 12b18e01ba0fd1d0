// The steps of two processes are those of one with the whole batch.
#include <gtest/gtest.h>

#include <cmath>

#include "machine/machine.h"
#include "nn/torch.h"
#include "processes/launch.h"
#include "processes/ranks.h"
#include "stages/generative/make_stage.h"
#include "stages/recognition/make_stage.h"
#include "support/small_addp.h"
#include "support/small_predictor.h"
#include "support/small_run.h"
#include "support/small_tokenizer.h"
#include "support/temporary_folder.h"
#include "tokenizer/vqgan_file.h"

namespace addp {
namespace {

constexpr std::int64_t kSteps = 2;

// Loss and gradient of every step; the loss is the mean over the processes.
template <class Options>
std::vector<double> figures(const Options& options, World& world) {
  const auto stage = make_stage(options, world);
  stage->seek(0);
  std::vector<double> all;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const StepContext context{.step = step,
                              .total = kSteps,
                              .lr = 1e-3,
                              .stream = RandomStream(1, "step", static_cast<std::uint64_t>(step)),
                              .rank = world.rank()};
    const Metrics metrics = stage->step(context);
    const Tensor loss = torch::tensor({metrics.at("loss")}, torch::kFloat64);
    world.all_reduce_mean(loss);
    all.push_back(loss.item<double>());
    all.push_back(metrics.at("gradient"));
  }
  return all;
}

template <class Options>
void expect_same_as_one(Options options, World& world) {
  World alone;
  const testing::TemporaryFolder folder;
  testing::set_small_run(options.train, folder.path(), kSteps);
  // With 0 or 3 a tokenizer's second step stands on a kink of its losses, and which side it takes
  // is the compiler's rounding.
  options.train.seed = 4;
  options.train.batch_size = 8;
  options.train.accumulate = 2;
  const std::vector<double> one = figures(options, alone);
  const std::vector<double> two = figures(options, world);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_NEAR(two[i], one[i], 1e-5 * std::abs(one[i])) << "figure " << i;
  }
}

TEST(StageOfTwo, DISABLED_generative) {
  World world(world_from_environment());
  at::set_num_threads(1);
  const testing::TemporaryFolder folder;

  TokenizerTrainOptions tokenizer;
  tokenizer.network = testing::small_tokenizer();
  tokenizer.perceptual = 0;
  tokenizer.adversarial = 0.1;
  tokenizer.discriminator_layers = 1;
  tokenizer.adversarial_start = 0;
  tokenizer.restart_every = 1;
  expect_same_as_one(tokenizer, world);
  tokenizer.adversarial_loss = AdversarialLoss::kPaired;
  tokenizer.gradient_penalty = 1;
  tokenizer.network.finish = 4;
  expect_same_as_one(tokenizer, world);

  PredictorTrainOptions predictor;
  predictor.tokens.tokenizer = testing::write_small_tokenizer(folder.path());
  predictor.tokens.class_conditional = true;
  predictor.tokens.class_drop = 0.5;
  predictor.network.preset = "nano";
  predictor.network.dropout = 0.2;
  expect_same_as_one(predictor, world);

  AddpTrainOptions addp;
  addp.tokens = predictor.tokens;
  addp.predictor = folder.path() / "predictor.safetensors";
  testing::write_small_predictor(addp.predictor, 9);  // eight shapes, and none
  addp.network = predictor.network;
  addp.diffusion.mapping = Mapping::kSampling;
  addp.diffusion.predictor_dropout = true;
  expect_same_as_one(addp, world);
  addp.tokens.views = 2;
  expect_same_as_one(addp, world);

  DistilOptions distil;
  distil.model = folder.path() / "addp.safetensors";
  testing::write_small_addp(distil.model, testing::make_small_addp("nano", 9),
                            R"({"classes": ["a", "b", "c", "d", "e", "f", "g", "h"]})");
  distil.sampler.steps = 4;
  distil.width = 32;
  distil.blocks = 1;
  expect_same_as_one(distil, world);
  world.finish();
}

TEST(StageOfTwo, DISABLED_recognition) {
  World world(world_from_environment());
  at::set_num_threads(1);

  ClassifierTrainOptions classifier;
  classifier.backbone.preset = "nano";
  classifier.backbone.patch = 8;
  classifier.drop_path = 0.5;
  expect_same_as_one(classifier, world);

  SegmenterTrainOptions segmenter;
  segmenter.maps.backbone.preset = "nano";
  segmenter.maps.backbone.patch = 8;
  segmenter.maps.drop_path = 0.5;
  segmenter.channels = segmenter.auxiliary_channels = 16;
  segmenter.dropout = 0.5;
  expect_same_as_one(segmenter, world);

  DetectorTrainOptions detector;
  detector.maps.backbone.preset = "nano";
  detector.maps.backbone.patch = 8;
  detector.strides = {4, 8, 16};
  detector.channels = detector.mask_channels = 16;
  detector.box_width = 32;
  detector.anchors = 16;
  detector.regions = 8;
  expect_same_as_one(detector, world);
  world.finish();
}

TEST(StageOfTwo, GenerativeStepsAreThoseOfOne) {
  EXPECT_EQ(
      run_processes({.processes = 2, .arguments = testing::play("StageOfTwo.DISABLED_generative")}),
      0);
}

TEST(StageOfTwo, RecognitionStepsAreThoseOfOne) {
  EXPECT_EQ(run_processes(
                {.processes = 2, .arguments = testing::play("StageOfTwo.DISABLED_recognition")}),
            0);
}

}  // namespace
}  // namespace addp
