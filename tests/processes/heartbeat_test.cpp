// The heartbeat by itself, on a store in memory.
#include "processes/heartbeat.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "base/error.h"
#include "support/eventually.h"
#include "support/no_more_threads.h"

namespace addp {
namespace {

struct Shared {
  std::mutex mutex;
  std::map<std::string, std::int64_t> sums;
  std::map<std::string, std::string> texts;
};

class MemoryStore : public SharedStore {
 public:
  explicit MemoryStore(Shared& shared) : shared_(shared) {}
  std::int64_t add(const std::string& key, std::int64_t amount) override {
    const std::lock_guard lock(shared_.mutex);
    return shared_.sums[key] += amount;
  }
  void set(const std::string& key, const std::string& value) override {
    const std::lock_guard lock(shared_.mutex);
    shared_.texts[key] = value;
  }
  std::string get(const std::string& key) override {
    const std::lock_guard lock(shared_.mutex);
    return shared_.texts[key];
  }

 private:
  Shared& shared_;
};

TEST(Heartbeat, ThreadsThatAreNotToBeHadAreSaid) {
  Shared shared;
  for (const std::size_t left : {0U, 1U}) {
    const testing::NoMoreThreads scope(left);
    EXPECT_THROW(Heartbeat(0, 1, 1, std::make_unique<MemoryStore>(shared)), RuntimeError) << left;
  }
  EXPECT_EQ(shared.sums.size(), 0U);  // nobody was told anything
  Heartbeat heartbeat(0, 1, 1, std::make_unique<MemoryStore>(shared));
  EXPECT_TRUE(testing::eventually([&] { return MemoryStore(shared).add("beat/0", 0) > 0; }));
  heartbeat.finish();
}

TEST(Heartbeat, ARankThatEndsEarlyIsHeardOf) {
  Shared shared;
  Heartbeat first(0, 2, 20, std::make_unique<MemoryStore>(shared));
  Heartbeat(1, 2, 20, std::make_unique<MemoryStore>(shared));
  const auto alarmed = [&] {
    try {
      first.check();
      return false;
    } catch (const RuntimeError& error) {
      return std::string(error.what()).find("rank 1 of 2 ended before") != std::string::npos;
    }
  };
  EXPECT_TRUE(testing::eventually(alarmed));
}

}  // namespace
}  // namespace addp
