// Jobs as child processes: order, failure, what is done already.
#include "reproduce/run/runner.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/interrupt.h"
#include "reproduce/run/child.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

// A shell stands for the program: its script is a job's first word.
StudyJob shell_job(const std::string& name, const std::string& script,
                   std::vector<std::string> more = {}) {
  std::vector<std::string> words = {script, "sh"};
  words.insert(words.end(), more.begin(), more.end());
  return {.name = name, .kind = "shell", .words = words};
}

class RunnerTest : public ::testing::Test {
 protected:
  RunnerReport run(std::int64_t jobs = 2) { return run_in(Workplace(plan_, folder_.path()), jobs); }
  RunnerReport run_in(const Workplace& place, std::int64_t jobs = 2) {
    RunnerOptions options;
    options.jobs = jobs;
    options.program = {"/bin/sh", "-c"};
    return run_jobs(place, options, [this](const StudyJob& job, const auto& result) {
      ended_.push_back(job.name + (result ? "" : " failed"));
    });
  }
  testing::TemporaryFolder folder_;
  Plan plan_;
  std::vector<std::string> ended_;
};

TEST_F(RunnerTest, NeedsComeFirstAndResultsAreKept) {
  plan_.add(
      shell_job("first", "sleep 0.2; echo '{\"x\": 1}' | tee \"$1/left\"", {in_folder("first")}));
  plan_.add(shell_job("second", "cat \"$1/left\"", {in_folder("first")}));
  EXPECT_TRUE(run().failed.empty());
  EXPECT_EQ(ended_, (std::vector<std::string>{"first", "second"}));
  const Workplace place(plan_, folder_.path());
  EXPECT_EQ(place.result("second")->printed["x"], 1);
  ended_.clear();
  EXPECT_TRUE(run().failed.empty());
  EXPECT_TRUE(ended_.empty());  // both are done
}

// Of another folder only results are known; files that a job needs are made anew.
TEST_F(RunnerTest, WhatWasDoneElsewhereRunsOnlyForItsFiles) {
  const std::string trained = "echo '{\"x\": 1, \"page\": \"/here\"}' | tee \"$1/left\"",
                    read = "cat \"$1/left\"";
  const auto plan = [&](bool more) {
    plan_.add(shell_job("network", trained, {in_folder("network")}));
    plan_.add(shell_job("other", trained, {in_folder("other")}));
    plan_.add(shell_job("measured", read, {in_folder("network")}));
    plan_.add(shell_job("seen", read, {in_folder("other")}));
    if (more) plan_.add(shell_job("new", read, {in_folder("network")}));
  };
  plan(false);
  EXPECT_TRUE(run().failed.empty());
  Workplace(plan_, folder_.path()).write_results({"seen"});

  plan(true);
  const testing::TemporaryFolder elsewhere;
  Workplace place(plan_, elsewhere.path());
  place.add_earlier(folder_.path() / "results.json");
  EXPECT_EQ(place.result("measured")->printed, nlohmann::json({{"x", 1}}));  // not where it lies
  EXPECT_FALSE(place.done("measured"));
  EXPECT_EQ(place.to_do(), (std::set<std::string>{"network", "other", "seen", "new"}));
  ended_.clear();
  EXPECT_TRUE(run_in(place).failed.empty());
  EXPECT_EQ(std::count(ended_.begin(), ended_.end(), "measured"), 0);
  EXPECT_EQ(place.result("new")->printed["x"], 1);
  EXPECT_TRUE(place.to_do().empty());
}

TEST_F(RunnerTest, ForeignResultsAreRefused) {
  Workplace place(plan_, folder_.path());
  for (const char* text : {"[]", "{", R"({"a-1": 3})"}) {
    write_file_atomically(folder_.path() / "results.json", std::string_view(text));
    EXPECT_THROW(place.add_earlier(folder_.path() / "results.json"), DataError) << text;
  }
}

TEST_F(RunnerTest, AFailureStopsOnlyWhatNeedsIt) {
  plan_.add(shell_job("bad", "echo 'what is wrong' >&2; exit 3"));
  plan_.add(shell_job("after", "echo '{}'", {in_folder("bad")}));
  plan_.add(shell_job("other", "echo '{}'"));
  plan_.add(shell_job("silent", "true"));
  const RunnerReport report = run();
  EXPECT_EQ(report.failed.at("bad"), "what is wrong");
  EXPECT_TRUE(report.failed.contains("silent"));  // it printed no result
  EXPECT_EQ(report.left, std::vector<std::string>{"after"});
  EXPECT_TRUE(Workplace(plan_, folder_.path()).done("other"));
}

TEST_F(RunnerTest, AnInterruptLetsChildrenEndInOrder) {
  plan_.add(shell_job("long",
                      "trap 'touch \"$1/saved\"; exit 130' INT; touch \"$1/begun\"; "
                      "while :; do sleep 0.05; done",
                      {in_folder("long")}));
  const Workplace place(plan_, folder_.path());
  std::thread later([&] {
    while (!std::filesystem::exists(place.folder("long") / "begun")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    request_interrupt();
  });
  EXPECT_THROW(run(), InterruptedError);
  later.join();
  clear_interrupt();
  EXPECT_TRUE(std::filesystem::exists(place.folder("long") / "saved"));
  EXPECT_FALSE(place.done("long"));
}

// The kernel ends a child whose parent was killed without warning.
TEST(Child, DoesNotOutliveItsParent) {
  const testing::TemporaryFolder folder;
  const pid_t parent = ::fork();
  if (parent == 0) {
    Child child({"/bin/sh", "-c", "echo $$; exec sleep 600"}, folder.path() / "out",
                folder.path() / "err");
    ::pause();
  }
  std::string text;
  while (text.empty() || text.back() != '\n') {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (std::filesystem::exists(folder.path() / "out"))
      text = read_text_file(folder.path() / "out");
  }
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  const pid_t child = std::stoi(text);
  bool gone = false;
  for (int i = 0; i < 500 && !gone; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::ifstream status("/proc/" + std::to_string(child) + "/stat");
    std::string line;
    gone = !std::getline(status, line) || line.find(") Z ") != std::string::npos;
  }
  EXPECT_TRUE(gone);
}

TEST(Child, TellsItsEnd) {
  const testing::TemporaryFolder folder;
  Child child({"/bin/sh", "-c", "exit 7"}, folder.path() / "out", folder.path() / "err");
  std::optional<Child::End> end;
  while (!end) end = child.ended();
  EXPECT_EQ(end->code, 7);
}

}  // namespace
}  // namespace addp
