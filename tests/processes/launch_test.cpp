#include "processes/launch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/file/file_io.h"
#include "processes/ranks.h"
#include "support/eventually.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

// Exactly these of the launchers' variables are set while the object lives.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& wanted) {
    for (const char* name : {"RANK",
                             "WORLD_SIZE",
                             "LOCAL_RANK",
                             "LOCAL_WORLD_SIZE",
                             "MASTER_ADDR",
                             "MASTER_PORT",
                             "OMPI_COMM_WORLD_RANK",
                             "OMPI_COMM_WORLD_SIZE",
                             "OMPI_COMM_WORLD_LOCAL_RANK",
                             "OMPI_COMM_WORLD_LOCAL_SIZE",
                             "PMI_RANK",
                             "PMI_SIZE",
                             "MPI_LOCALRANKID",
                             "MPI_LOCALNRANKS",
                             "SLURM_PROCID",
                             "SLURM_NTASKS",
                             "SLURM_LOCALID",
                             "SLURM_NODELIST",
                             "SLURM_STEP_NODELIST",
                             "SLURM_JOB_NODELIST",
                             "SLURM_JOB_ID",
                             "SLURM_STEP_ID",
                             "SLURM_STEPID",
                             "ADDP_LISTEN_DESCRIPTOR"}) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      ::unsetenv(name);
      names_.emplace_back(name);
    }
    for (const auto& [name, value] : wanted) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const auto& name : names_) ::unsetenv(name.c_str());
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::string> before_;
};

WorldOptions read(const std::map<std::string, std::string>& variables) {
  const Environment environment(variables);
  return world_from_environment();
}

void expect_usage_error(const std::map<std::string, std::string>& variables,
                        const std::vector<std::string>& names) {
  const Environment environment(variables);
  try {
    world_from_environment();
    ADD_FAILURE() << "no error";
  } catch (const UsageError& error) {
    for (const auto& name : names) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  }
}

// Rank, size, local rank, address and port.
auto place(const WorldOptions& world) {
  return std::tuple<int, int, int, std::string, int>(world.rank, world.size, world.local_rank,
                                                     world.address, world.port);
}

TEST(LaunchEnvironment, NothingMeansOneProcess) {
  const auto world = read({});
  EXPECT_EQ(world.rank, 0);
  EXPECT_EQ(world.size, 1);
}

TEST(LaunchEnvironment, Torchrun) {
  const auto world = read({{"RANK", "5"},
                           {"WORLD_SIZE", "8"},
                           {"LOCAL_RANK", "1"},
                           {"MASTER_ADDR", "node3"},
                           {"MASTER_PORT", "1234"},
                           {"SLURM_PROCID", "1"},
                           {"SLURM_NTASKS", "2"}});
  EXPECT_EQ(place(world), std::tuple(5, 8, 1, "node3", 1234));
}

TEST(LaunchEnvironment, Slurm) {
  const auto world = read({{"SLURM_PROCID", "3"},
                           {"SLURM_NTASKS", "4"},
                           {"SLURM_LOCALID", "1"},
                           {"SLURM_NODELIST", "gpu[07-08],login"},
                           {"SLURM_JOB_ID", "123456"},
                           {"SLURM_STEP_ID", "0"}});
  EXPECT_EQ(place(world), std::tuple(3, 4, 1, "gpu07", 20000 + 3456));
}

TEST(LaunchEnvironment, SlurmBatchScriptIsOneProcess) {
  EXPECT_EQ(read({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "9"}}).size, 1);
  EXPECT_EQ(read({{"SLURM_NTASKS", "4"}}).size, 1);
}

TEST(LaunchEnvironment, OpenMpiAndMpich) {
  const auto open = read({{"OMPI_COMM_WORLD_RANK", "1"},
                          {"OMPI_COMM_WORLD_SIZE", "2"},
                          {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  EXPECT_EQ(open.rank, 1);
  EXPECT_EQ(open.size, 2);
  EXPECT_EQ(open.address, "127.0.0.1");
  const auto mpich = read({{"PMI_RANK", "2"}, {"PMI_SIZE", "3"}, {"MASTER_ADDR", "head"}});
  EXPECT_EQ(mpich.rank, 2);
  EXPECT_EQ(mpich.size, 3);
  EXPECT_EQ(mpich.address, "head");
}

TEST(LaunchEnvironment, ContradictionsAreNamed) {
  expect_usage_error({{"RANK", "0"}}, {"RANK", "WORLD_SIZE"});
  expect_usage_error({{"WORLD_SIZE", "2"}}, {"RANK", "WORLD_SIZE"});
  expect_usage_error({{"RANK", "2"}, {"WORLD_SIZE", "2"}}, {"RANK=2", "WORLD_SIZE=2"});
  expect_usage_error({{"RANK", "x"}, {"WORLD_SIZE", "2"}}, {"RANK='x'"});
  expect_usage_error({{"RANK", "-1"}, {"WORLD_SIZE", "2"}}, {"RANK='-1'"});
  expect_usage_error({{"RANK", "0"}, {"WORLD_SIZE", "2"}}, {"MASTER_ADDR"});
  expect_usage_error({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}, {"MASTER_PORT"});
  expect_usage_error(
      {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "70000"}},
      {"MASTER_PORT=70000"});
  expect_usage_error({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}, {"PMI_SIZE", "MASTER_ADDR"});
  expect_usage_error({{"SLURM_PROCID", "0"}}, {"SLURM_NTASKS"});
}

TEST(LaunchEnvironment, FirstHostOfANodeList) {
  EXPECT_EQ(first_host("node1"), "node1");
  EXPECT_EQ(first_host("a.b.c,d"), "a.b.c");
  EXPECT_EQ(first_host("gpu[03-05,9],login"), "gpu03");
  EXPECT_EQ(first_host("r[1-2]n[0,3]-ib"), "r1n0-ib");
  EXPECT_THROW(first_host("gpu[03"), UsageError);
  EXPECT_THROW(first_host(""), UsageError);
}

TEST(LaunchEnvironment, WhoStartsTheRanks) {
  {
    const Environment none({});
    EXPECT_TRUE(is_launcher(2));
    EXPECT_FALSE(is_launcher(1));
  }
  const Environment two(
      {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "9"}});
  EXPECT_FALSE(is_launcher(1));
  EXPECT_FALSE(is_launcher(2));
  EXPECT_THROW(is_launcher(3), UsageError);
}

// --- run_processes ---

int run_shell(int processes, const std::string& script, double grace = 20, int threads = 0) {
  return run_processes({.processes = processes,
                        .threads = threads,
                        .arguments = {"/bin/sh", "-c", script},
                        .grace_seconds = grace});
}

TEST(RunProcesses, TellsEachRankItsPlace) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(run_shell(3,
                      "echo $WORLD_SIZE $LOCAL_RANK $MASTER_ADDR $OMP_NUM_THREADS > " +
                          (folder.path() / "$RANK").string(),
                      20, 6),
            0);
  for (const char* rank : {"0", "1", "2"}) {
    EXPECT_EQ(read_text_file(folder.path() / rank), fmt::format("3 {} 127.0.0.1 2\n", rank));
  }
}

TEST(RunProcesses, RankZeroAloneHasTheSocketAndStdout) {
  EXPECT_EQ(run_shell(2,
                      "[ -e /proc/$$/fd/$ADDP_LISTEN_DESCRIPTOR ] && has=1 || has=0; [ $(readlink "
                      "/proc/$$/fd/1) = /dev/null ] && silent=1 || silent=0; [ $has = $((1 - "
                      "RANK)) ] || exit 5; [ $RANK = 0 ] || [ $silent = 1 ] || exit 6"),
            0);
}

TEST(RunProcesses, FirstFailureEndsTheOthers) {
  EXPECT_EQ(run_shell(3, "[ $RANK = 1 ] && exit 4; exec sleep 300"), 4);
  // One that does not listen is killed.
  EXPECT_EQ(run_shell(2, "trap '' TERM; [ $RANK = 1 ] && exit 3; exec sleep 300", 0.3), 3);
  EXPECT_EQ(run_shell(2, "[ $RANK = 1 ] && kill -9 $$; exec sleep 300"), 1);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST(RunProcesses, ProgramThatDoesNotExist) {
  EXPECT_EQ(run_processes({.processes = 2, .arguments = {"/nowhere/to/be/found"}}), 127);
}

// Each rank notes its process and, when interrupted, takes a while to save; the second
// rank is quick.
constexpr char kSaver[] =
    "echo $$ > $TEST_FOLDER/pid-$RANK; trap '[ $RANK = 0 ] && sleep 1; echo saved > "
    "$TEST_FOLDER/saved-$RANK; exit 130' INT TERM; echo > $TEST_FOLDER/ready-$RANK; while :; do "
    "sleep 0.1; done";

TEST(LaunchPart, DISABLED_launcher) { std::_Exit(run_shell(2, kSaver)); }

class RunProcessesSignals : public ::testing::Test {
 protected:
  void SetUp() override {
    auto arguments = testing::play("LaunchPart.DISABLED_launcher");
    launcher_ = ::fork();
    if (launcher_ == 0) {
      ::setenv("TEST_FOLDER", folder_.path().c_str(), 1);
      std::vector<char*> list;
      for (auto& argument : arguments) list.push_back(argument.data());
      list.push_back(nullptr);
      ::execv(list[0], list.data());
      ::_exit(127);
    }
    ASSERT_TRUE(testing::eventually([&] { return has("ready-0") && has("ready-1"); }));
  }
  void TearDown() override {
    ::kill(launcher_, SIGKILL);
    ::waitpid(launcher_, nullptr, 0);
  }
  bool has(const std::string& name) const { return std::filesystem::exists(folder_.path() / name); }
  bool rank_runs(const std::string& rank) const {
    return ::kill(std::stoi(read_text_file(folder_.path() / ("pid-" + rank))), 0) == 0;
  }

  testing::TemporaryFolder folder_;
  pid_t launcher_ = -1;
};

TEST_F(RunProcessesSignals, InterruptReachesAllAndWaitsForTheirSaving) {
  ::kill(launcher_, SIGINT);
  int status = 0;
  ASSERT_TRUE(
      testing::eventually([&] { return ::waitpid(launcher_, &status, WNOHANG) == launcher_; }));
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_TRUE(has("saved-0"));
  EXPECT_TRUE(has("saved-1"));
  EXPECT_FALSE(rank_runs("0"));
  EXPECT_FALSE(rank_runs("1"));
}

TEST_F(RunProcessesSignals, RanksSaveAndEndWhenTheLauncherIsKilled) {
  ::kill(launcher_, SIGKILL);
  EXPECT_TRUE(testing::eventually([&] { return has("saved-0") && has("saved-1"); }));
}

}  // namespace
}  // namespace addp
