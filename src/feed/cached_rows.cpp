#include "feed/cached_rows.h"

#include "base/random.h"

namespace addp {

CachedRows::CachedRows(const FeedOptions& feed, std::int64_t pictures, std::int64_t views,
                       std::int64_t steps_per_epoch)
    : pictures_(pictures),
      views_(views),
      per_epoch_(steps_per_epoch * feed.parts),
      batch_(feed.batch),
      parts_(feed.parts),
      rank_(feed.rank),
      world_(feed.world),
      seed_(static_cast<std::uint64_t>(feed.seed)) {}

CachedBatch CachedRows::next() {
  const std::int64_t epoch = position_ / per_epoch_, part = position_ % per_epoch_;
  ++position_;
  if (epoch != epoch_) {
    epoch_ = epoch;
    order_ = RandomStream(seed_, "token order", static_cast<std::uint64_t>(epoch))
                 .permutation(pictures_);
  }
  const std::int64_t first = (part * world_ + rank_) * batch_;
  CachedBatch batch;
  for (std::int64_t i = 0; i < batch_; ++i) {
    const std::int64_t picture = order_[static_cast<std::size_t>((first + i) % pictures_)];
    RandomStream stream(seed_, "view", static_cast<std::uint64_t>(epoch),
                        static_cast<std::uint64_t>(picture));
    batch.pictures.push_back(picture);
    batch.views.push_back(stream.integer(0, views_ - 1));
  }
  return batch;
}

}  // namespace addp
