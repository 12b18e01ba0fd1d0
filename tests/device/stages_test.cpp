// Every stage trains, and the sampler samples, on a device that is not the CPU, and comes to what
// the CPU does.
#include <gtest/gtest.h>

#include "device/fake_accelerator.h"
#include "generate/edit.h"
#include "generate/trajectory.h"
#include "machine/machine.h"
#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"
#include "stages/generative/make_stage.h"
#include "stages/recognition/make_stage.h"
#include "support/small_lpips.h"
#include "support/small_run.h"
#include "support/small_tokenizer.h"
#include "support/temporary_folder.h"
#include "train/trainer.h"

namespace addp {
namespace {

using testing::FakeAccelerator;
using testing::TemporaryFolder;

class Devices : public ::testing::Test {
 protected:
  // Trains one stage on the CPU and on the accelerator; the last losses must agree.
  template <class Options>
  std::filesystem::path expect_same(Options options, const std::string& name) {
    std::map<std::string, double> losses;
    for (const std::string where : {"cpu", "accelerator"}) {
      std::optional<FakeAccelerator> accelerator;
      if (where == "accelerator") accelerator.emplace();
      const std::int64_t before = FakeAccelerator::operations();
      testing::set_small_run(options.train, folder_.path() / (name + "-" + where), 2);
      options.train.ema = 0.9;
      options.train.log_every = 1;
      options.train.picture_every = 2;
      World world;
      const auto stage = make_stage(options, world);
      const StepContext context{0, 2, 1e-3, RandomStream(1, "step")};
      stage->seek(0);
      stage->step(context);
      losses[where] = stage->step(context).at("loss");
      addp::train(*stage, options.train, world, {false, "addp train", ""});
      EXPECT_EQ(FakeAccelerator::operations() > before, where == "accelerator");
    }
    EXPECT_NEAR(losses["cpu"], losses["accelerator"], 1e-3 * (1 + std::abs(losses["cpu"])));
    return folder_.path() / (name + "-cpu");
  }

  std::filesystem::path tokenizer() {
    TokenizerTrainOptions options;
    options.network = testing::small_tokenizer();
    options.lpips = folder_.path() / "lpips.safetensors";
    write_safetensors(options.lpips, testing::small_lpips());
    options.adversarial = 0.1;
    options.discriminator_layers = 1;
    return expect_same(options, "tokenizer");
  }

  TemporaryFolder folder_;
};

TEST_F(Devices, GenerativeStagesAndTheSampler) {
  const auto codes = tokenizer();
  PredictorTrainOptions predictor;
  predictor.tokens.tokenizer = codes;
  predictor.tokens.class_conditional = true;
  predictor.network.preset = "nano";
  const auto mage = expect_same(predictor, "predictor");
  AddpTrainOptions addp;
  addp.predictor = mage;
  addp.tokens = predictor.tokens;
  addp.network.preset = "nano";
  const auto model = expect_same(addp, "addp");
  DistilOptions distil;
  distil.model = model;
  distil.sampler.steps = 3;
  const auto prepared = expect_same(distil, "distil");

  GenerationPlan plan;
  plan.sampler.steps = 3;
  plan.label = 1;
  plan.sampler.guidance = 2;
  const auto sample = [&] {
    const Generator generator = Generator::open(model);
    Trajectory trajectory(generator.tokenizer(), generator.grid());
    const SamplerHooks hooks{.on_step = [&](const SamplerStep& step) { trajectory.add(step); },
                             .cancelled = {}};
    const Samples made = generator.sample({0, 1}, plan, hooks);
    EXPECT_EQ(trajectory.frames(0).size(), 3U);
    return made.pixels.cpu();
  };
  const auto edited = [&] {
    const Generator generator = Generator::open(prepared);
    GenerationPlan fast = plan;
    fast.sampler.fast = true;
    const Image picture(32, 32);
    return to_tensor(fill_in(hide_box(picture, {0, 0, 20, 20}), generator, {.generation = fast}));
  };
  const Tensor here = sample(), edited_here = edited();
  const FakeAccelerator accelerator;
  EXPECT_TRUE(at::allclose(here, sample(), 1e-3, 1e-3));
  EXPECT_TRUE(at::allclose(edited_here, edited(), 1e-2, 1e-2));
}

TEST_F(Devices, Classifier) {
  ClassifierTrainOptions classifier;
  classifier.backbone.preset = "nano";
  classifier.backbone.patch = 8;
  expect_same(classifier, "classifier");
}

TEST_F(Devices, Probe) {
  ClassifierTrainOptions classifier;
  classifier.backbone.preset = "nano";
  classifier.backbone.patch = 8;
  const auto encoder = expect_same(classifier, "encoder");
  for (const std::int64_t views : {0, 1}) {
    ProbeTrainOptions probe;
    probe.backbone.model = encoder;
    probe.views = views;
    expect_same(probe, fmt::format("probe{}", views));
  }
}

TEST_F(Devices, Segmenter) {
  SegmenterTrainOptions segmenter;
  segmenter.maps.backbone.preset = "nano";
  segmenter.channels = segmenter.auxiliary_channels = 16;
  segmenter.maps.backbone.patch = 8;
  expect_same(segmenter, "segmenter");
}

TEST_F(Devices, Detector) {
  DetectorTrainOptions detector;
  detector.maps.backbone.preset = "resnet-nano";
  detector.strides = {2, 4, 8, 16};
  detector.channels = detector.mask_channels = 16;
  detector.box_width = 32;
  expect_same(detector, "detector");
}

TEST(Device, NamesAreUnderstood) {
  EXPECT_EQ(find_device("cpu"), torch::Device(torch::kCPU));
  EXPECT_THROW(find_device("gpu"), UsageError);
  EXPECT_THROW(find_device("cuda:"), UsageError);
  EXPECT_THROW(find_device("cuda:1x"), UsageError);
  EXPECT_THROW(find_device("cuda:4096"), UsageError);
}

}  // namespace
}  // namespace addp
