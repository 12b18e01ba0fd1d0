#include "train/trainer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "support/temporary_folder.h"
#include "train/toy_stage.h"

namespace addp {
namespace {

using testing::TemporaryFolder;
using testing::ToyStage;

TrainOptions toy_options(const std::filesystem::path& out, std::int64_t steps) {
  TrainOptions options;
  options.data = "none";
  options.out = out;
  options.steps = steps;
  options.lr = 0.05;
  options.save_every = 5;
  options.log_every = 1;
  options.picture_every = 5;
  options.eval_every = 4;
  return options;
}

class TrainerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    set_progress_quiet(true);
    clear_interrupt();
  }
  World world_;
  RunContext context_{false, "addp train toy", "lr = 0.05\n"};
};

std::vector<std::int64_t> logged_steps(const std::filesystem::path& folder) {
  std::vector<std::int64_t> steps;
  std::ifstream file(folder / "log.jsonl");
  for (std::string line; std::getline(file, line);) {
    const auto value = nlohmann::json::parse(line);
    if (value["kind"] == "train") steps.push_back(value["step"]);
  }
  return steps;
}

TEST_F(TrainerTest, WritesEverything) {
  TemporaryFolder folder;
  ToyStage stage(world_);
  const Metrics metrics = train(stage, toy_options(folder.path(), 12), world_, context_);
  EXPECT_TRUE(metrics.contains("score"));
  for (const char* name : {"model.safetensors", "best.safetensors", "last.safetensors",
                           "config.toml", "log.jsonl", "index.html", "pictures/toy-0000012.png"}) {
    EXPECT_TRUE(std::filesystem::exists(folder.path() / name)) << name;
  }
  EXPECT_EQ(logged_steps(folder.path()).size(), 12U);
}

TEST_F(TrainerTest, ModelHoldsTheAveragedWeights) {
  TemporaryFolder folder;
  ToyStage stage(world_);
  train(stage, toy_options(folder.path(), 12), world_, context_);
  const auto saved = read_safetensors(folder.path() / "model.safetensors");
  const Tensor averaged = stage.learners()[0]->averaged().at("weight");
  EXPECT_TRUE(torch::equal(to_torch(saved.tensors.at("weight")), averaged));
  EXPECT_FALSE(torch::equal(stage.network().weight, averaged));
}

// kill -9 between two saves: the second process goes on from the save and ends with the same bits.
TEST_F(TrainerTest, ResumeAfterAKillIsExact) {
  TemporaryFolder whole, killed;
  ToyStage reference(world_);
  train(reference, toy_options(whole.path(), 20), world_, context_);

  const pid_t child = ::fork();
  if (child == 0) {
    ToyStage stage(world_);
    stage.on_step = [](std::int64_t step) {
      if (step == 12) ::kill(::getpid(), SIGKILL);
    };
    train(stage, toy_options(killed.path(), 20), world_, context_);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  ToyStage resumed(world_);
  train(resumed, toy_options(killed.path(), 20), world_, context_);

  EXPECT_EQ(resumed.sought, 10);
  EXPECT_TRUE(torch::equal(reference.network().weight, resumed.network().weight));
  EXPECT_EQ(read_file(whole.path() / "last.safetensors"),
            read_file(killed.path() / "last.safetensors"));
  const auto steps = logged_steps(killed.path());
  ASSERT_EQ(steps.size(), 20U);
  for (std::size_t i = 0; i < steps.size(); ++i)
    EXPECT_EQ(steps[i], static_cast<std::int64_t>(i) + 1);
}

TEST_F(TrainerTest, InterruptSavesAndSaysSo) {
  TemporaryFolder folder;
  ToyStage stage(world_);
  stage.on_step = [](std::int64_t step) {
    if (step == 7) request_interrupt();
  };
  EXPECT_THROW(train(stage, toy_options(folder.path(), 20), world_, context_), InterruptedError);
  clear_interrupt();
  EXPECT_EQ(read_safetensors(folder.path() / "last.safetensors").metadata.at("addp.step"), "8");
}

TEST_F(TrainerTest, NonFiniteLossKeepsTheLastCheckpoint) {
  TemporaryFolder folder;
  ToyStage stage(world_, /*poisoned_step=*/13);
  try {
    train(stage, toy_options(folder.path(), 20), world_, context_);
    FAIL() << "nothing was thrown";
  } catch (const NonFiniteError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("step 13 (epoch 1, batch 3)"), std::string::npos) << message;
    EXPECT_NE(message.find("gradient of 'bias'"), std::string::npos) << message;
    EXPECT_EQ(error.code(), ExitCode::kNonFinite);
  }
  EXPECT_EQ(read_safetensors(folder.path() / "last.safetensors").metadata.at("addp.step"), "10");
}

TEST_F(TrainerTest, ForeignCheckpointIsRefused) {
  TemporaryFolder folder;
  write_safetensors(folder.path() / "last.safetensors", {},
                    {{"addp.stage", "tokenizer"}, {"addp.step", "3"}});
  ToyStage stage(world_);
  EXPECT_THROW(train(stage, toy_options(folder.path(), 20), world_, context_), DataError);
  TrainOptions fresh = toy_options(folder.path(), 5);
  fresh.resume = false;
  train(stage, fresh, world_, context_);
  EXPECT_EQ(read_safetensors(folder.path() / "last.safetensors").metadata.at("addp.step"), "5");
}

}  // namespace
}  // namespace addp
