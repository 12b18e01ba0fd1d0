// addp distil: the loss falls, a resume is exact, and the result is the model with more inside.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/run/progress.h"
#include "checkpoint/format/safetensors.h"
#include "nn/torch.h"
#include "stages/generative/make_stage.h"
#include "stages/generative/trajectory_feed.h"
#include "support/small_addp.h"
#include "support/temporary_folder.h"
#include "train/trainer.h"

namespace addp {
namespace {

class Distil : public ::testing::Test {
 protected:
  Distil() {
    set_progress_quiet(true);
    set_log_quiet(true);
    testing::write_small_addp(model_, testing::make_small_addp("nano", 3),
                              R"({"classes": ["cat", "dog"], "steps": 7})");
  }

  DistilOptions options(const std::string& out, std::int64_t steps) const {
    DistilOptions options;
    options.model = model_;
    options.train.out = folder_.path() / out;
    options.train.batch_size = 4;
    options.train.steps = steps;
    options.train.warmup_steps = 2;
    options.train.picture_every = 0;
    options.train.precision = Precision::kFloat32;
    options.sampler.steps = 4;
    options.passes = 2;
    options.width = 32;
    options.blocks = 1;
    return options;
  }

  Metrics run(const DistilOptions& options) const {
    World world;
    const auto stage = make_stage(options, world);
    return train(*stage, options.train, world, {false, "addp distil", ""});
  }

  std::filesystem::path saved(const std::string& out) const {
    return folder_.path() / out / "model.safetensors";
  }

  testing::TemporaryFolder folder_;
  std::filesystem::path model_ = folder_.path() / "addp.safetensors";
};

TEST_F(Distil, TheLossFalls) {
  DistilOptions wanted = options("run", 200);
  wanted.train.lr = 5e-3;
  wanted.train.ema = 0;
  World world;
  const auto stage = make_stage(wanted, world);
  const Metrics before = stage->evaluate();
  EXPECT_NEAR(before.at("loss"), 1, 1e-3);  // nothing but the mean is known
  EXPECT_GT(before.at("kl"), 0);
  const Metrics after = train(*stage, wanted.train, world, {false, "addp distil", ""});
  EXPECT_LT(after.at("loss"), 0.95);
  EXPECT_LT(after.at("kl"), before.at("kl"));
}

TEST_F(Distil, ResumeIsExact) {
  run(options("whole", 9));
  // Stopped after each of the first four steps: in the middle of a round of trajectories, and of
  // one pass over them.
  for (int stopped = 0; stopped < 4; ++stopped) {
    request_interrupt();
    EXPECT_THROW(run(options("parts", 9)), InterruptedError);
    clear_interrupt();
  }
  run(options("parts", 9));
  const auto whole = read_safetensors(saved("whole")).tensors,
             parts = read_safetensors(saved("parts")).tensors;
  ASSERT_EQ(whole.size(), parts.size());
  for (const auto& [name, tensor] : whole) {
    EXPECT_TRUE(to_torch(tensor).equal(to_torch(parts.at(name)))) << name;
  }
}

TEST_F(Distil, TheModelStaysAndSaysMore) {
  run(options("run", 2));
  const LoadedAddp before = load_addp(model_), after = load_addp(saved("run"));
  EXPECT_EQ(before.network->bypass(), nullptr);
  ASSERT_NE(after.network->bypass(), nullptr);
  const auto parameters = after.network->named_parameters();
  for (const auto& item : before.network->named_parameters()) {
    EXPECT_TRUE(parameters[item.key()].equal(item.value())) << item.key();
  }
  EXPECT_EQ(after.provenance["classes"].size(), 2U);
  EXPECT_EQ(after.provenance["steps"], 7);
  EXPECT_EQ(after.provenance["distilled"]["steps"], 2);
  // Preparing it again replaces what is there.
  DistilOptions again = options("again", 1);
  again.model = saved("run");
  again.blocks = 2;
  again.skip = 1;
  run(again);
  const BypassConfig replaced = load_addp(saved("again")).network->config().bypass;
  EXPECT_EQ(replaced.blocks, 2);
  EXPECT_EQ(replaced.skip, 1);
  again.skip = before.network->config().encoder.vit.depth;  // nothing would be left of the encoder
  EXPECT_THROW(run(again), UsageError);
}

TEST_F(Distil, AResNetIsRefused) {
  testing::write_small_addp(model_, testing::make_small_addp("resnet-nano"));
  World world;
  EXPECT_THROW(make_stage(options("run", 1), world), UsageError);
}

// Every state of every trajectory comes once per pass, and any step can be begun with.
TEST_F(Distil, StatesComeOncePerPass) {
  const testing::SmallAddp small = testing::make_small_addp();
  World world;
  const DistilOptions wanted = options("run", 1);
  TrajectoryFeed feed(wanted, 1, *small.network, *small.tokenizer, 0, world);
  EXPECT_EQ(feed.states(), 3);
  EXPECT_EQ(feed.steps_per_epoch(), 6);
  std::vector<Tensor> sums;
  std::vector<TrajectoryStates> batches;
  feed.seek(0);
  for (int i = 0; i < 12; ++i) {
    batches.push_back(feed.next());
    EXPECT_EQ(batches.back().embeddings.size(0), 4);
    if (i % 3 == 0) sums.push_back(torch::zeros_like(batches.back().embeddings));
    sums.back() += batches.back().embeddings;
  }
  EXPECT_TRUE(at::allclose(sums[0], sums[1], 1e-5, 1e-5));   // two passes over one round
  EXPECT_FALSE(at::allclose(sums[1], sums[2], 1e-2, 1e-2));  // new trajectories
  feed.seek(7);
  EXPECT_TRUE(feed.next().encoded.equal(batches[7].encoded));
  feed.seek(2);
  EXPECT_TRUE(feed.next().encoded.equal(batches[2].encoded));
}

}  // namespace
}  // namespace addp
