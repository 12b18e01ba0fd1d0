// Classifiers and probes trained end to end on a few drawn pictures.
#include <gtest/gtest.h>

#include "base/error.h"
#include "heads/classify/classifier_file.h"
#include "model/load.h"
#include "nn/layer/picture_tensor.h"
#include "nn/layer/pixels.h"
#include "nn/torch.h"
#include "stages/recognition/make_stage.h"
#include "support/small_predictor.h"
#include "support/small_run.h"
#include "support/temporary_folder.h"
#include "tokenizer/vqgan_file.h"
#include "train/trainer.h"

namespace addp {
namespace {

using testing::TemporaryFolder;

void fill(TrainOptions& train, const std::filesystem::path& out, std::int64_t steps) {
  testing::set_small_run(train, out, steps);
  train.data = "shapes:size=32,count=16,val=8,seed=1";
  train.batch_size = 8;
  train.lr = 2e-3;
}

ClassifierTrainOptions tiny_classifier(const std::filesystem::path& out, std::int64_t steps) {
  ClassifierTrainOptions options;
  fill(options.train, out, steps);
  options.backbone.preset = "nano";
  options.backbone.patch = 8;
  return options;
}

Metrics run(Stage& stage, const TrainOptions& train, World& world) {
  return addp::train(stage, train, world, {false, "addp train classifier", ""});
}

Tensor some_pixels() {
  return torch::arange(2 * 3 * 32 * 32).fmod(255).div(255).view({2, 3, 32, 32});
}

Tensor weight_of(const Stage& stage, const std::string& name) {
  return to_torch(stage.state().at("classifier.model." + name));
}

// The classifier out of a file says what the stage's own would: `tokenizer` and weights are those
// that the stage trained with.
void expect_carries(Classifier& loaded, const Stage& stage,
                    const std::shared_ptr<const Vqgan>& tokenizer = {}) {
  Classifier trained(loaded.config(), tokenizer);
  load_strictly(trained, stage.state(), {.source = "the stage", .prefix = "classifier.model."});
  trained.eval();
  torch::NoGradGuard guard;
  EXPECT_TRUE(loaded.forward(some_pixels()).equal(trained.forward(some_pixels())));
}

TEST(ClassifierStage, LearnsAFewPicturesByHeart) {
  TemporaryFolder folder;
  World world;
  ClassifierTrainOptions options = tiny_classifier(folder.path(), 40);
  options.layer_decay = 1;
  options.drop_path = 0;
  options.crop = 1;
  options.flip = false;
  options.augment = options.erasing = options.mixup = options.cutmix = 0;
  options.label_smoothing = 0;
  options.train.data = "shapes:size=32,count=8,val=8,seed=1";
  const auto stage = make_stage(options, world);
  double first = 0, last = 0;
  for (std::int64_t i = 0; i < 40; ++i) {
    const double loss =
        stage->step({i, 40, 1e-3, RandomStream(1, "step", static_cast<std::uint64_t>(i))})
            .at("loss");
    if (i == 0) first = loss;
    last = loss;
  }
  EXPECT_NEAR(first, std::log(8), 0.2);  // an even guess
  EXPECT_LT(last, 0.5 * first);
}

TEST(ClassifierStage, TheWholeRecipeRunsAndItsFolderIsAClassifier) {
  TemporaryFolder folder;
  World world;
  ClassifierTrainOptions options = tiny_classifier(folder.path(), 3);
  options.train.ema = 0.9;
  options.train.accumulate = 2;
  options.repeats = 2;
  options.loss = ClassLoss::kBinary;
  const auto stage = make_stage(options, world);
  const Metrics metrics = run(*stage, options.train, world);
  EXPECT_GE(metrics.at("top5"), metrics.at("top1"));
  const auto loaded = load_classifier(folder.path());
  EXPECT_EQ(loaded->config().class_names.size(), 8U);
  EXPECT_EQ(loaded->config().class_names.front(), "circle");
  EXPECT_EQ(loaded->config().picture_size(), 32);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "index.html"));
}

TEST(ClassifierStage, ResumesExactly) {
  TemporaryFolder whole, cut;
  World world;
  const auto weights = [&](const std::filesystem::path& out, std::int64_t steps) {
    ClassifierTrainOptions options = tiny_classifier(out, steps);
    options.train.warmup_steps = 1;
    options.train.min_lr = options.train.lr;
    const auto stage = make_stage(options, world);
    run(*stage, options.train, world);
    return weight_of(*stage, "head.weight").clone();
  };
  const Tensor at_once = weights(whole.path(), 4);
  weights(cut.path(), 2);
  EXPECT_TRUE(weights(cut.path(), 4).equal(at_once));
}

TEST(ClassifierStage, TrainsAResNetAndKeepsItsStatistics) {
  TemporaryFolder folder;
  World world;
  ClassifierTrainOptions options = tiny_classifier(folder.path(), 1);
  options.backbone.preset = "resnet50";
  options.backbone.patch = 16;
  options.train.batch_size = 4;
  const auto stage = make_stage(options, world);
  stage->step({0, 1, 1e-3, RandomStream(1, "step")});
  const Tensor mean = weight_of(*stage, "encoder.trunk.bn1.running_mean");
  EXPECT_GT(mean.abs().max().item<double>(), 0);
  stage->save_model(folder.path() / "model.safetensors", "{}");
  expect_carries(*load_classifier(folder.path()), *stage);
}

TEST(ClassifierStage, TakesTokensAndCarriesTheirTokenizer) {
  TemporaryFolder folder;
  World world;
  ClassifierTrainOptions options = tiny_classifier(folder.path(), 1);
  options.backbone.input = "tokens";
  options.backbone.tokenizer = testing::write_small_tokenizer(folder.path());
  const auto stage = make_stage(options, world);
  stage->step({0, 1, 1e-3, RandomStream(1, "step")});
  stage->save_model(folder.path() / "model.safetensors", "{}");
  const auto loaded = load_classifier(folder.path());
  expect_carries(*loaded, *stage, load_tokenizer(options.backbone.tokenizer));
  EXPECT_EQ(loaded->config().backbone.input, BackboneInput::kTokens);
}

TEST(ClassifierStage, FineTunesAnEarlierClassifierAtAnotherSize) {
  TemporaryFolder folder;
  World world;
  ClassifierTrainOptions options = tiny_classifier(folder.path() / "first", 1);
  const auto first = make_stage(options, world);
  first->save_model(folder.path() / "first.safetensors", "{}");
  options.backbone.model = folder.path() / "first.safetensors";
  options.train.size = 48;
  const auto second = make_stage(options, world);
  const std::string kept = "encoder.blocks.3.mlp.fc1.weight";
  EXPECT_TRUE(weight_of(*first, kept).equal(weight_of(*second, kept)));
  EXPECT_EQ(weight_of(*second, "encoder.pos_embed").size(1), 37);
}

TEST(ProbeStage, TrainsTheLastLayerAloneFromCachedViews) {
  TemporaryFolder folder;
  World world;
  ClassifierTrainOptions encoder = tiny_classifier(folder.path() / "encoder", 1);
  make_stage(encoder, world)->save_model(folder.path() / "encoder.safetensors", "{}");
  for (const std::int64_t views : {0, 1, 3}) {
    ProbeTrainOptions options;
    fill(options.train, folder.path() / std::to_string(views), 3);
    options.backbone.model = folder.path() / "encoder.safetensors";
    options.views = views;
    const auto stage = make_stage(options, world);
    EXPECT_EQ(stage->learners()[0]->optimizer().parameters().size(), 2U);
    const Metrics metrics = run(*stage, options.train, world);
    EXPECT_TRUE(metrics.contains("knn"));
    EXPECT_EQ(std::filesystem::exists(options.train.out / "features.safetensors"), views > 0);
    const auto probe = load_classifier(options.train.out);
    EXPECT_EQ(probe->config().head, ClassifierHead::kProbe);
    const auto before = load_classifier(folder.path() / "encoder.safetensors")->named_parameters();
    EXPECT_TRUE(probe->named_parameters()["encoder.blocks.0.attn.qkv.weight"].equal(
        before["encoder.blocks.0.attn.qkv.weight"]));
  }
}

// Behind an inner block and on the class position, the probe sees what the whole encoder has there.
TEST(ProbeStage, LooksBehindAnyBlockAndAtTheClassPosition) {
  TemporaryFolder folder;
  World world;
  ClassifierTrainOptions encoder = tiny_classifier(folder.path() / "encoder", 1);
  make_stage(encoder, world)->save_model(folder.path() / "encoder.safetensors", "{}");
  ProbeTrainOptions options;
  fill(options.train, folder.path() / "probe", 1);
  options.backbone.model = folder.path() / "encoder.safetensors";
  options.block = 2;
  options.position = "class";
  run(*make_stage(options, world), options.train, world);
  const auto probe = load_classifier(options.train.out);
  EXPECT_EQ(probe->config().backbone.depth(), 2);
  torch::NoGradGuard guard;
  auto* vit = dynamic_cast<TransformerEncoder*>(&probe->encoder());
  ASSERT_NE(vit, nullptr);
  EXPECT_EQ(vit->blocks().size(), 2U);
  const Tensor pixels = normalise_pixels(some_pixels());
  const Tensor features = probe->encoder().features(pixels);
  EXPECT_TRUE(probe->pooled(pixels).equal(features.select(1, 0)));
  const auto original = load_classifier(folder.path() / "encoder.safetensors");
  EXPECT_TRUE(probe->named_parameters()["encoder.blocks.1.mlp.fc2.weight"].equal(
      original->named_parameters()["encoder.blocks.1.mlp.fc2.weight"]));
  options.block = 7;  // nano has six
  EXPECT_THROW(make_stage(options, world), UsageError);
}

TEST(ClassifierStage, LearnsFromAShareOfTheLabels) {
  TemporaryFolder folder;
  World world;
  ClassifierTrainOptions options = tiny_classifier(folder.path(), 1);
  options.train.data = "shapes:size=32,count=64,val=8,seed=1";
  const std::int64_t all = make_stage(options, world)->steps_per_epoch();
  options.label_share = 0.5;
  EXPECT_EQ(make_stage(options, world)->steps_per_epoch(), all / 2);
}

}  // namespace
}  // namespace addp
