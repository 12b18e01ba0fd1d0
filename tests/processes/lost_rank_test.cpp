// A rank that is killed, hangs or fails: the others end and say which it was.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "base/file/file_io.h"
#include "nn/torch.h"
#include "processes/distributed.h"
#include "processes/ranks.h"
#include "support/eventually.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

// The ranks of a run, started without a launcher that would look after them.
class Orphans {
 public:
  Orphans(int count, const std::string& part) {
    const int port = testing::free_port();
    auto arguments = testing::play(part);
    std::vector<char*> list;
    for (auto& argument : arguments) list.push_back(argument.data());
    list.push_back(nullptr);
    for (int rank = 0; rank < count; ++rank) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::setenv("RANK", std::to_string(rank).c_str(), 1);
        ::setenv("WORLD_SIZE", std::to_string(count).c_str(), 1);
        ::setenv("MASTER_ADDR", "127.0.0.1", 1);
        ::setenv("MASTER_PORT", std::to_string(port).c_str(), 1);
        ::setenv("OMP_NUM_THREADS", "1", 1);
        ::setenv("TEST_FOLDER", folder_.path().c_str(), 1);
        const int out = ::open(log(rank).c_str(), O_WRONLY | O_CREAT, 0644);
        ::dup2(out, STDOUT_FILENO);
        ::dup2(out, STDERR_FILENO);
        ::execv(list[0], list.data());
        ::_exit(127);
      }
      children_.push_back(child);
    }
  }
  ~Orphans() {
    for (const pid_t child : children_) {
      if (child == 0) continue;
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }
  // Waits until every rank has said that it is under way.
  bool under_way() const {
    return testing::eventually([this] {
      for (std::size_t rank = 0; rank < children_.size(); ++rank) {
        if (!std::filesystem::exists(folder_.path() / fmt::format("ready-{}", rank))) return false;
      }
      return true;
    });
  }
  void signal(int rank, int number) { ::kill(children_[static_cast<std::size_t>(rank)], number); }
  // The exit code of a rank that ends by itself; -1 if it is killed or goes on for a minute.
  int exit_code(int rank) {
    pid_t& child = children_[static_cast<std::size_t>(rank)];
    int status = 0;
    if (!testing::eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; }))
      return -1;
    child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string said(int rank) const { return read_text_file(log(rank)); }

 private:
  std::string log(int rank) const {
    return (folder_.path() / fmt::format("log-{}", rank)).string();
  }

  testing::TemporaryFolder folder_;
  std::vector<pid_t> children_;
};

WorldOptions impatient() {
  auto options = world_from_environment();
  options.lost_seconds = 3;
  return options;
}

void say_under_way(const World& world) {
  std::ofstream(std::filesystem::path(std::getenv("TEST_FOLDER")) /
                fmt::format("ready-{}", world.rank()));
}

TEST(LostRankPart, DISABLED_endless_sums) {
  World world(impatient());
  for (int step = 0;; ++step) {
    world.all_reduce_sum(torch::ones({1000}));
    if (step == 3) say_under_way(world);
  }
}

TEST(LostRankPart, DISABLED_endless_backward) {
  World world(impatient());
  const torch::Tensor weight = torch::ones({1000}, torch::requires_grad());
  GradientReducer reducer(world, {weight});
  for (int step = 0;; ++step) {
    reducer.backward((weight * 2).sum());
    if (step == 3) say_under_way(world);
  }
}

TEST(LostRankPart, DISABLED_one_gives_up) {
  World world(impatient());
  world.barrier();
  say_under_way(world);
  if (world.rank() == 1) throw DataError("a picture is broken");
  for (;;) world.barrier();
}

void expect_sentence(Orphans& ranks, int rank, const std::string& sentence) {
  EXPECT_EQ(ranks.exit_code(rank), 1) << "rank " << rank;
  EXPECT_NE(ranks.said(rank).find(sentence), std::string::npos) << ranks.said(rank);
}

// One rank of each run is sent the signal `number`: the others end and name it.
void expect_named(int number) {
  Orphans sums(3, "LostRankPart.DISABLED_endless_sums");
  Orphans backward(2, "LostRankPart.DISABLED_endless_backward");
  Orphans first(2, "LostRankPart.DISABLED_endless_backward");
  ASSERT_TRUE(sums.under_way() && backward.under_way() && first.under_way());
  sums.signal(1, number);
  backward.signal(1, number);
  first.signal(0, number);
  expect_sentence(sums, 0, "rank 1 of 3 was lost");
  expect_sentence(sums, 2, "rank 1 of 3 was lost");
  expect_sentence(backward, 0, "rank 1 of 2 was lost");
  expect_sentence(first, 1, "rank 0 of 2 was lost");
}

TEST(LostRank, KilledRankIsNamedByTheOthers) { expect_named(SIGKILL); }

// The connections stay open: only silence tells.
TEST(LostRank, HangingRankIsNamedByTheOthers) { expect_named(SIGSTOP); }

TEST(LostRank, RankThatFailsIsNamedByTheOthers) {
  Orphans ranks(3, "LostRankPart.DISABLED_one_gives_up");
  expect_sentence(ranks, 1, "a picture is broken");
  expect_sentence(ranks, 0, "rank 1 of 3 ended before the others");
  expect_sentence(ranks, 2, "rank 1 of 3 ended before the others");
}

}  // namespace
}  // namespace addp
