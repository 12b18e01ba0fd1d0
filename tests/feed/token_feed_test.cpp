// Tokens for training, drawn as pictures come or from a cache of several crops of each.
#include "feed/token_feed.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/run/progress.h"
#include "checkpoint/format/safetensors.h"
#include "model/load.h"
#include "nn/torch.h"
#include "support/small_tokenizer.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

using Numbers = std::vector<std::int64_t>;

FeedOptions cached_feed(std::int64_t batch, std::int64_t rank = 0, std::int64_t world = 1) {
  FeedOptions feed;
  feed.batch = batch;
  feed.parts = 2;
  feed.seed = 3;
  feed.rank = rank;
  feed.world = world;
  return feed;
}

TEST(CachedRows, AnEpochShowsEveryPictureOnce) {
  CachedRows rows(cached_feed(4), 16, 3, /*steps_per_epoch=*/2);
  Numbers first, second;
  for (Numbers* epoch : {&first, &second}) {
    for (int part = 0; part < 4; ++part) {
      const CachedBatch batch = rows.next();
      epoch->insert(epoch->end(), batch.pictures.begin(), batch.pictures.end());
      for (const std::int64_t view : batch.views) EXPECT_TRUE(view >= 0 && view < 3);
    }
    EXPECT_EQ(std::set<std::int64_t>(epoch->begin(), epoch->end()).size(), 16U);
  }
  EXPECT_NE(first, second) << "every epoch has an order of its own";
}

TEST(CachedRows, ProcessesShareTheBatchOfOne) {
  CachedRows one(cached_feed(6), 24, 4, 2), left(cached_feed(3, 0, 2), 24, 4, 2),
      right(cached_feed(3, 1, 2), 24, 4, 2);
  for (int part = 0; part < 5; ++part) {
    const CachedBatch all = one.next();
    CachedBatch joined = left.next();
    const CachedBatch other = right.next();
    joined.pictures.insert(joined.pictures.end(), other.pictures.begin(), other.pictures.end());
    joined.views.insert(joined.views.end(), other.views.begin(), other.views.end());
    EXPECT_EQ(joined.pictures, all.pictures);
    EXPECT_EQ(joined.views, all.views);
  }
}

TEST(CachedRows, AResumedRunGoesOnWhereItWas) {
  CachedRows whole(cached_feed(4), 12, 2, 1), resumed(cached_feed(4), 12, 2, 1);
  for (int part = 0; part < 6; ++part) whole.next();  // three steps of two parts
  resumed.seek(3);
  for (int part = 0; part < 4; ++part) {
    const CachedBatch a = whole.next(), b = resumed.next();
    EXPECT_EQ(a.pictures, b.pictures);
    EXPECT_EQ(a.views, b.views);
  }
}

class TokenFeedTest : public ::testing::Test {
 protected:
  TokenFeedTest() : tokenizer_(std::make_shared<Vqgan>(testing::small_tokenizer())) {
    set_progress_quiet(true);
    set_log_quiet(true);
    initialise_vqgan(*tokenizer_, RandomStream(1, "tokenizer"));
    train_.data = "shapes:size=32,count=12,val=4,seed=1";
    train_.out = folder_.path();
    train_.size = 32;
    train_.batch_size = 4;
    train_.workers = 1;
  }

  TokenFeed feed(std::int64_t views = 0) {
    TokenOptions tokens;
    tokens.views = views;
    tokens.crop = 0.5;
    return TokenFeed(train_, tokens, tokenizer_, world_);
  }
  std::filesystem::path cache() const { return folder_.path() / "tokens.safetensors"; }

  testing::TemporaryFolder folder_;
  World world_;
  std::shared_ptr<Vqgan> tokenizer_;
  TrainOptions train_;
};

TEST_F(TokenFeedTest, TokensAreThoseOfTheCropsAndSeekFindsThem) {
  TokenFeed tokens = feed();
  EXPECT_EQ(tokens.grid().area(), 16);
  EXPECT_EQ(tokens.steps_per_epoch(), 3);
  std::vector<TokenBatch> batches;
  for (int i = 0; i < 4; ++i) batches.push_back(tokens.next());
  EXPECT_EQ(batches[0].ids.sizes(), (Numbers{4, 16}));
  EXPECT_LT(batches[0].ids.max().item<std::int64_t>(), 32);
  EXPECT_FALSE(batches[0].ids.equal(batches[1].ids));

  FeedOptions options = FeedOptions::from(train_, world_);
  options.crop = 0.5;
  PictureFeed pictures(options);
  const PictureBatch first = pictures.next();
  EXPECT_TRUE(batches[0].ids.equal(tokenizer_->encode(first.pixels)));
  EXPECT_TRUE(batches[0].labels.equal(first.labels));

  TokenFeed again = feed();
  again.seek(3);
  EXPECT_TRUE(again.next().ids.equal(batches[3].ids));
  EXPECT_FALSE(std::filesystem::exists(cache())) << "nothing is kept without --token-views";
}

TEST_F(TokenFeedTest, ViewsAreTokenizedOnceAndDrawnFromTheFile) {
  TokenFeed tokens = feed(/*views=*/3);
  const Safetensors saved = read_safetensors(cache());
  const Tensor kept = to_torch(saved.tensors.at("tokens"));
  EXPECT_EQ(kept.sizes(), (Numbers{12, 3, 16}));
  EXPECT_FALSE(kept.select(1, 0).equal(kept.select(1, 1))) << "views are different crops";

  // Every row of a batch is a view of a picture with that label.
  const Tensor labels = to_torch(saved.tensors.at("labels"));
  const TokenBatch batch = tokens.next();
  for (std::int64_t row = 0; row < batch.ids.size(0); ++row) {
    const Tensor same = (kept.to(torch::kInt64) == batch.ids[row]).all(-1).any(-1);  // [12]
    const Tensor found = same.nonzero().flatten();
    ASSERT_GT(found.numel(), 0) << row;
    EXPECT_TRUE((labels.index_select(0, found) == batch.labels[row]).any().item<bool>());
  }

  // A second run uses the file; another number of views makes a new one.
  const auto written = std::filesystem::last_write_time(cache());
  TokenFeed second = feed(3);
  EXPECT_EQ(std::filesystem::last_write_time(cache()), written);
  second.seek(0);
  EXPECT_TRUE(second.next().ids.equal(batch.ids));
  feed(2);
  EXPECT_EQ(to_torch(read_safetensors(cache()).tensors.at("tokens")).size(1), 2);
}

TEST_F(TokenFeedTest, ASizeThatTokensDoNotDivideIsRefused) {
  train_.size = 30;
  EXPECT_THROW(feed(), UsageError);
}

}  // namespace
}  // namespace addp
