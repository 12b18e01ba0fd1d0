#include "train/trainer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/run/progress.h"
#include "support/temporary_folder.h"
#include "train/run_state.h"
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

  EXPECT_EQ(resumed.sought, 12);  // saved before the evaluation
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
  EXPECT_EQ(read_safetensors(folder.path() / "last.safetensors").metadata.at("addp.step"), "12");
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

std::string step_in(const std::filesystem::path& file) {
  return read_safetensors(file).metadata.at("addp.step");
}

std::size_t evaluations_logged(const std::filesystem::path& folder) {
  std::size_t count = 0;
  std::ifstream file(folder / "log.jsonl");
  for (std::string line; std::getline(file, line);) {
    count += nlohmann::json::parse(line)["kind"] == "eval" ? 1 : 0;
  }
  return count;
}

// Weights can become NaN while the loss of the step before was finite.
TEST_F(TrainerTest, WeightsThatAreNotFiniteAreNeverSaved) {
  for (const std::int64_t poisoned : {4, 14, 19}) {  // before a save, an evaluation, the end
    TemporaryFolder folder;
    ToyStage stage(world_);
    TrainOptions options = toy_options(folder.path(), 20);
    options.eval_every = 3;
    stage.on_step = [&](std::int64_t step) {
      torch::NoGradGuard guard;
      if (step == poisoned) stage.network().weight.fill_(std::numeric_limits<float>::quiet_NaN());
    };
    EXPECT_THROW(train(stage, options, world_, context_), NonFiniteError);
    for (const char* name : {"last.safetensors", "model.safetensors", "best.safetensors"}) {
      if (!std::filesystem::exists(folder.path() / name)) continue;
      for (const auto& [key, view] : read_safetensors(folder.path() / name).tensors) {
        if (!to_torch(view).is_floating_point()) continue;
        EXPECT_TRUE(to_torch(view).isfinite().all().item<bool>()) << poisoned << name << key;
      }
    }
    EXPECT_EQ(step_in(folder.path() / "last.safetensors"), std::to_string(poisoned / 3 * 3));
  }
}

TEST_F(TrainerTest, CheckpointsAreKeptOfTheStepTheyAreNamedAfter) {
  TemporaryFolder folder;
  ToyStage stage(world_);
  TrainOptions options = toy_options(folder.path(), 13);
  options.eval_every = options.picture_every = 0;
  options.save_every = 3;
  options.keep_every = 4;
  train(stage, options, world_, context_);
  for (const char* step : {"4", "8", "12"}) {
    EXPECT_EQ(step_in(folder.path() / fmt::format("step-{}.safetensors", step)), step);
  }
}

TEST_F(TrainerTest, TheLastEvaluationIsRememberedAndMadeOnce) {
  TemporaryFolder folder;
  ToyStage first(world_);
  first.score = 5;
  TrainOptions options = toy_options(folder.path(), 10);
  options.eval_every = 0;
  train(first, options, world_, context_);
  const Bytes best = read_file(folder.path() / "best.safetensors");
  EXPECT_EQ(evaluations_logged(folder.path()), 1U);

  ToyStage again(world_);
  again.on_evaluate = [] { FAIL() << "it was evaluated already"; };
  EXPECT_EQ(train(again, options, world_, context_), (Metrics{{"score", 5}}));
  EXPECT_EQ(evaluations_logged(folder.path()), 1U);

  ToyStage longer(world_);
  longer.score = 4;  // worse
  options.steps = 12;
  train(longer, options, world_, context_);
  EXPECT_EQ(read_file(folder.path() / "best.safetensors"), best);
  EXPECT_EQ(evaluations_logged(folder.path()), 2U);
}

// The state is saved before an evaluation, which a kill may cut short; it is made after the resume.
TEST_F(TrainerTest, AKillInAnEvaluationLosesNothing) {
  TemporaryFolder whole, killed;
  TrainOptions options = toy_options(whole.path(), 10);
  options.eval_every = 4;
  ToyStage reference(world_);
  train(reference, options, world_, context_);
  options.out = killed.path();
  for (const int last : {0, 1, 2}) {  // at step 4, at step 8 and at the end
    const pid_t child = ::fork();
    if (child == 0) {
      ToyStage stage(world_);
      stage.on_evaluate = [] { ::kill(::getpid(), SIGKILL); };
      if (last > 0) {
        // The one that was cut short comes first, then the run goes on to the next.
        stage.on_evaluate = [count = 0]() mutable {
          if (++count == 2) ::kill(::getpid(), SIGKILL);
        };
      }
      train(stage, options, world_, context_);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << last;
    EXPECT_EQ(step_in(killed.path() / "last.safetensors"),
              std::to_string(std::min(4 * last + 4, 10)));
  }
  ToyStage resumed(world_);
  train(resumed, options, world_, context_);
  EXPECT_EQ(read_file(whole.path() / "last.safetensors"),
            read_file(killed.path() / "last.safetensors"));
  EXPECT_EQ(read_file(whole.path() / "best.safetensors"),
            read_file(killed.path() / "best.safetensors"));
  EXPECT_EQ(evaluations_logged(killed.path()), evaluations_logged(whole.path()));
}

TEST_F(TrainerTest, AKillBetweenTheLastSaveAndTheModelLosesNothing) {
  TemporaryFolder whole, killed;
  TrainOptions options = toy_options(whole.path(), 10);
  options.eval_every = 0;
  options.keep_every = 10;
  ToyStage reference(world_);
  train(reference, options, world_, context_);
  options.out = killed.path();
  const pid_t child = ::fork();
  if (child == 0) {
    ToyStage stage(world_);
    stage.on_save_model = [count = 0]() mutable {  // that of step 5 is written
      if (++count == 2) ::kill(::getpid(), SIGKILL);
    };
    train(stage, options, world_, context_);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  std::filesystem::remove(killed.path() / "step-10.safetensors");  // a moment earlier
  ToyStage resumed(world_);
  train(resumed, options, world_, context_);
  for (const char* name : {"last.safetensors", "model.safetensors", "step-10.safetensors"}) {
    EXPECT_EQ(read_file(whole.path() / name), read_file(killed.path() / name)) << name;
  }
}

TEST_F(TrainerTest, ADamagedCheckpointFallsBackToTheOneBefore) {
  TemporaryFolder whole, damaged;
  ToyStage reference(world_);
  train(reference, toy_options(whole.path(), 20), world_, context_);
  ToyStage half(world_);
  half.on_step = [](std::int64_t step) {
    if (step == 16) request_interrupt();
  };
  EXPECT_THROW(train(half, toy_options(damaged.path(), 20), world_, context_), InterruptedError);
  clear_interrupt();
  const auto last = damaged.path() / "last.safetensors";
  ASSERT_EQ(step_in(last), "17");
  for (const bool cut : {false, true}) {
    Bytes bytes = read_file(last);
    cut ? bytes.resize(bytes.size() / 2) : void(bytes.back() ^= 0x40);
    write_file_atomically(last, bytes);
    ToyStage resumed(world_);
    train(resumed, toy_options(damaged.path(), 20), world_, context_);
    EXPECT_EQ(resumed.sought, cut ? 20 : 16);
    EXPECT_EQ(read_file(whole.path() / "last.safetensors"), read_file(last));
  }
  std::filesystem::remove(damaged.path() / "previous.safetensors");
  write_file_atomically(last, "nothing");
  ToyStage refused(world_);
  EXPECT_THROW(train(refused, toy_options(damaged.path(), 20), world_, context_), DataError);
}

TEST_F(TrainerTest, AResumeInAnotherArithmeticSaysSo) {
  TemporaryFolder folder;
  const auto told_by = [&](std::int64_t steps, Precision precision) {
    TrainOptions options = toy_options(folder.path(), steps);
    options.precision = precision;
    ToyStage stage(world_);
    ::testing::internal::CaptureStderr();
    train(stage, options, world_, context_);
    return ::testing::internal::GetCapturedStderr();
  };
  ::setenv("ADDP_BF16", "always", 1);
  told_by(5, Precision::kFloat32);
  const std::string same = told_by(6, Precision::kFloat32);
  const std::string other = told_by(8, Precision::kBfloat16);
  ::unsetenv("ADDP_BF16");
  EXPECT_EQ(same.find("goes on in"), std::string::npos) << same;
  EXPECT_NE(other.find("was computed in fp32, and goes on in bf16"), std::string::npos) << other;
}

TEST_F(TrainerTest, AFreshStartNeverFallsBackToAnEarlierRun) {
  TemporaryFolder folder;
  ToyStage first(world_);
  train(first, toy_options(folder.path(), 20), world_, context_);
  ToyStage second(world_);
  TrainOptions fresh = toy_options(folder.path(), 5);
  fresh.resume = false;
  fresh.eval_every = fresh.picture_every = 0;
  train(second, fresh, world_, context_);
  const auto previous = folder.path() / "previous.safetensors";
  EXPECT_EQ(step_in(previous), "5");  // of this run: saved before its evaluation
}

TEST(RunState, ChangedSettingsAreTold) {
  ::testing::internal::CaptureStderr();
  warn_of_changes("lr = 0.1\nname = \"a = b\"  # x = y\nsteps = 3\n",
                  "lr = 0.2\nname = \"a = b\"  # other\nsteps = 4\n", "state");
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(told, "warning: resuming with 'lr = 0.2' where the run had '0.1'\n");
}

}  // namespace
}  // namespace addp
