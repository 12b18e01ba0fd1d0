// Which rows of a cache make the batches of a run: the cache holds several views of every picture.
// The same pictures come in the same order for any number of processes: a step's batch is cut into
// parts, and each part into the processes' shares.
#pragma once

#include <cstdint>
#include <vector>

#include "feed/picture_feed.h"

namespace addp {

struct CachedBatch {
  std::vector<std::int64_t> pictures, views;  // of each place
};

class CachedRows {
 public:
  CachedRows() = default;
  CachedRows(const FeedOptions& feed, std::int64_t pictures, std::int64_t views,
             std::int64_t steps_per_epoch);

  void seek(std::int64_t step) { position_ = step * parts_; }
  CachedBatch next();

 private:
  std::int64_t pictures_ = 0, views_ = 1, per_epoch_ = 1;
  std::int64_t batch_ = 1, parts_ = 1, rank_ = 0, world_ = 1;
  std::uint64_t seed_ = 0;
  std::int64_t position_ = 0, epoch_ = -1;
  std::vector<std::int64_t> order_;
};

}  // namespace addp
