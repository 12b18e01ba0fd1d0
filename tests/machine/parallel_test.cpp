#include "machine/parallel.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "nn/torch.h"

namespace addp {
namespace {

class Parallel : public ::testing::Test {
 protected:
  void SetUp() override { torch::set_num_threads(2); }
  void TearDown() override { torch::set_num_threads(before_); }

 private:
  int before_ = torch::get_num_threads();
};

TEST_F(Parallel, PartsRunOnThreadsOfTheirOwn) {
#if defined(__clang__)
  GTEST_SKIP() << "needs a build with GCC, whose OpenMP libtorch uses";
#endif
  std::mutex mutex;
  std::set<std::thread::id> threads;
  for_parts(8, 1, [&](std::int64_t, std::int64_t) {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(threads.size(), 2u);
}

TEST_F(Parallel, EveryElementIsVisitedOnce) {
  std::vector<int> visits(1001);
  for_parts(1001, 10, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
  });
  EXPECT_EQ(visits, std::vector<int>(1001, 1));
}

TEST_F(Parallel, WhatIsThrownReachesTheCaller) {
  const auto fail = [](std::int64_t, std::int64_t end) {
    if (end == 2) throw std::runtime_error("of the last part");
  };
  EXPECT_THROW(for_parts(2, 1, fail), std::runtime_error);
}

TEST_F(Parallel, NothingIsFine) {
  for_parts(0, 1, [](std::int64_t, std::int64_t) { FAIL(); });
}

}  // namespace
}  // namespace addp
