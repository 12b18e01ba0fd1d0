#include "data/load/picture_pass.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "base/interrupt.h"
#include "data/number_set.h"

namespace addp {
namespace {

using Numbers = std::vector<std::int64_t>;

struct Visited {
  Numbers pictures;
  PassCount count;
};

Visited visit(const testing::NumberSet& set, const PicturePass& pass) {
  Visited out;
  // The pass keeps the set for as long as it lasts; here the test owns it.
  const std::shared_ptr<const Dataset> shared(&set, [](const Dataset*) {});
  out.count = for_each_sample(shared, pass,
                              [&](const BatchItem& item) { out.pictures.push_back(item.index); });
  return out;
}

TEST(PicturePass, AllInOrderOrAsManyAsAskedFor) {
  EXPECT_EQ(chosen_pictures(5, {}), (Numbers{0, 1, 2, 3, 4}));
  EXPECT_EQ(chosen_pictures(10, {.limit = 4}), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(chosen_pictures(10, {.limit = 4, .order = PassOrder::kSpread}), (Numbers{0, 2, 5, 7}));
  EXPECT_EQ(chosen_pictures(3, {.limit = 7, .order = PassOrder::kSpread}), (Numbers{0, 1, 2}));
  const Numbers drawn = chosen_pictures(100, {.limit = 6, .order = PassOrder::kShuffled});
  EXPECT_EQ(drawn.size(), 6U);
  EXPECT_NE(drawn, chosen_pictures(100, {.limit = 6}));
  EXPECT_EQ(Numbers(drawn.begin(), drawn.begin() + 3),
            chosen_pictures(100, {.limit = 3, .order = PassOrder::kShuffled}));
}

// What a loader's first epoch shows, so that panels and evaluations keep their pictures.
TEST(PicturePass, DrawsWhatALoaderWouldShow) {
  LoaderOptions loading{.batch_size = 6, .epochs = 1, .train = false};
  LoaderOrder order(50, loading);
  LoaderState start;
  Numbers loaded;
  for (const LoaderTicket& ticket : order.take_batch(start)) loaded.push_back(ticket.index);
  EXPECT_EQ(chosen_pictures(50, {.limit = 6, .order = PassOrder::kShuffled}), loaded);
}

TEST(PicturePass, ProcessesShareIt) {
  for (const PassOrder order : {PassOrder::kFirst, PassOrder::kSpread, PassOrder::kShuffled}) {
    const Numbers all = chosen_pictures(40, {.limit = 11, .order = order});
    std::set<std::int64_t> shared;
    std::size_t count = 0;
    for (int rank = 0; rank < 3; ++rank) {
      const Numbers own =
          chosen_pictures(40, {.limit = 11, .order = order, .rank = rank, .world = 3});
      shared.insert(own.begin(), own.end());
      count += own.size();
    }
    EXPECT_EQ(count, all.size());
    EXPECT_EQ(shared, std::set<std::int64_t>(all.begin(), all.end()));
  }
  EXPECT_TRUE(chosen_pictures(2, {.rank = 2, .world = 3}).empty());
}

TEST(PicturePass, VisitsDecodedPicturesInOrderWhateverTheThreads) {
  const testing::NumberSet set(20);
  for (const int threads : {1, 4}) {
    const Visited seen = visit(set, {.limit = 5, .order = PassOrder::kSpread, .threads = threads});
    EXPECT_EQ(seen.pictures, (Numbers{0, 4, 8, 12, 16}));
    EXPECT_EQ(seen.count.seen, 5);
    EXPECT_EQ(seen.count.left_out, 0);
  }
  const std::shared_ptr<const Dataset> shared(&set, [](const Dataset*) {});
  for_each_sample(shared, {.limit = 1}, [&](const BatchItem& item) {
    EXPECT_EQ(item.image, set.get(0).image);
    EXPECT_EQ(item.name, "picture 0");
  });
}

TEST(PicturePass, BrokenPicturesAreLeftOutOrEndIt) {
  const testing::NumberSet set(10, {2, 7});
  const Visited seen = visit(set, {.max_broken = 1});
  EXPECT_EQ(seen.pictures, (Numbers{0, 1, 3, 4, 5, 6, 8, 9}));
  EXPECT_EQ(seen.count.seen, 8);
  EXPECT_EQ(seen.count.left_out, 2);
  EXPECT_THROW(visit(set, {}), DataError);
  // The share is that of the pictures of the pass.
  EXPECT_EQ(visit(set, {.limit = 2, .max_broken = 0}).count.seen, 2);
}

TEST(PicturePass, WhatTheVisitorThrowsComesOut) {
  const testing::NumberSet set(4);
  const std::shared_ptr<const Dataset> shared(&set, [](const Dataset*) {});
  EXPECT_THROW(for_each_sample(shared, {.max_broken = 1},
                               [](const BatchItem&) { throw DataError("by the visitor"); }),
               DataError);
}

TEST(PicturePass, AnInterruptEndsItUnlessItMustWait) {
  const testing::NumberSet set(4);
  request_interrupt();
  EXPECT_THROW(visit(set, {}), InterruptedError);
  EXPECT_EQ(visit(set, {.when_interrupted = ""}).count.seen, 4);
  clear_interrupt();
}

}  // namespace
}  // namespace addp
