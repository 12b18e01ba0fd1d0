#include "base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <thread>

#include "base/error.h"

namespace addp {
namespace {

// Known answers of Philox 4x32-10 from the Random123 distribution (kat_vectors).
TEST(Random, PhiloxKnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, StreamsAreDistinctAndRepeatable) {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (const char* purpose : {"mask", "augment"}) {
      for (std::uint64_t step = 0; step < 4; ++step) {
        for (std::uint64_t index = 0; index < 4; ++index) {
          RandomStream a(seed, purpose, step, index), b(seed, purpose, step, index);
          const std::uint64_t first = a.next_u64();
          EXPECT_EQ(first, b.next_u64());
          firsts.insert(first);
        }
      }
    }
  }
  EXPECT_EQ(firsts.size(), 4U * 2 * 4 * 4);
}

TEST(Random, ForkDoesNotDependOnUse) {
  RandomStream parent(7, "parent");
  const std::uint64_t before = parent.fork("child", 3).next_u64();
  for (int i = 0; i < 5; ++i) parent.next_u32();
  EXPECT_EQ(parent.fork("child", 3).next_u64(), before);
  EXPECT_NE(parent.fork("child", 4).next_u64(), before);
}

TEST(Random, ACopyContinuesExactly) {
  for (int used = 0; used < 11; ++used) {
    RandomStream stream(3, "resume", 5, 1);
    for (int i = 0; i < used; ++i) stream.next_u32();
    RandomStream copy = stream;
    EXPECT_EQ(copy, stream) << used;
    for (int i = 0; i < 9; ++i) EXPECT_EQ(copy.next_u32(), stream.next_u32()) << used;
  }
}

TEST(Random, ResultsDoNotDependOnThreads) {
  constexpr int kItems = 64;
  const auto draw = [](int threads) {
    std::vector<double> out(kItems);
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&, t] {
        for (int i = t; i < kItems; i += threads) {
          out[static_cast<std::size_t>(i)] =
              RandomStream(1, "item", 0, static_cast<std::uint64_t>(i)).normal();
        }
      });
    }
    for (auto& worker : workers) worker.join();
    return out;
  };
  EXPECT_EQ(draw(1), draw(5));
}

TEST(Random, Distributions) {
  RandomStream stream(11, "distributions");
  constexpr int kDraws = 200000;
  double sum = 0, squares = 0, gumbel = 0, truncated_low = 1, truncated_high = 0;
  std::array<int, 5> counts{};
  for (int i = 0; i < kDraws; ++i) {
    const double value = stream.normal();
    sum += value;
    squares += value * value;
    gumbel += stream.gumbel();
    ++counts.at(static_cast<std::size_t>(stream.integer(-2, 2) + 2));
    const double ratio = stream.truncated_normal(0.55, 0.25, 0.5, 1.0);
    truncated_low = std::min(truncated_low, ratio);
    truncated_high = std::max(truncated_high, ratio);
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1, 0.02);
  EXPECT_NEAR(gumbel / kDraws, 0.5772, 0.01);  // Euler's constant
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 5, 900);
  EXPECT_GE(truncated_low, 0.5);
  EXPECT_LE(truncated_high, 1.0);
}

TEST(Random, CategoricalFollowsTheWeights) {
  RandomStream stream(2, "categorical");
  const std::vector<double> weights{1, 0, 3};
  std::array<int, 3> counts{};
  for (int i = 0; i < 40000; ++i) ++counts.at(stream.categorical(weights));
  EXPECT_EQ(counts[1], 0);
  EXPECT_NEAR(counts[2], 30000, 500);
}

TEST(Random, PermutationHoldsEveryIndexOnce) {
  auto order = RandomStream(5, "order").permutation(1000);
  EXPECT_NE(order.front() + order.back(), 999);
  std::set<std::int64_t> seen(order.begin(), order.end());
  EXPECT_EQ(seen.size(), 1000U);
  EXPECT_EQ(*seen.begin(), 0);
  EXPECT_EQ(*seen.rbegin(), 999);
}

}  // namespace
}  // namespace addp
