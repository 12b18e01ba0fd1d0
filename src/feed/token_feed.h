// Batches of tokens z_0 for training: from pictures that are tokenized as they come, or from a
// cache of several tokenized crops of every picture.
#pragma once

#include <memory>
#include <optional>

#include "checkpoint/layout/token_cache.h"
#include "feed/cached_rows.h"
#include "feed/picture_feed.h"
#include "feed/token_options.h"
#include "tokenizer/vqgan.h"

namespace addp {

struct TokenBatch {
  Tensor ids;     // [B, L] int64
  Tensor labels;  // [B] int64; -1 where there is no class
};

class TokenFeed {
 public:
  TokenFeed(const TrainOptions& options, const TokenOptions& tokens,
            std::shared_ptr<const Vqgan> tokenizer, World& world);

  std::int64_t steps_per_epoch() const;
  const Grid& grid() const { return grid_; }
  void seek(std::int64_t step);
  TokenBatch next();
  TokenBatch validation(std::int64_t count) const;
  const PictureFeed& pictures() const { return feed_; }

 private:
  void fill_cache(World& world);
  TokenCache build_cache() const;
  TokenBatch next_cached();

  TrainOptions options_;
  TokenOptions token_options_;
  std::shared_ptr<const Vqgan> tokenizer_;
  Grid grid_;
  FeedOptions feed_options_;
  PictureFeed feed_;
  // With a cache: tokens [N, V, L] int32 and labels [N] of the pictures that are not broken, and
  // what comes next.
  Tensor cache_, labels_;
  CachedRows rows_;
};

}  // namespace addp
