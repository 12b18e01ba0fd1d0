// Features of a frozen encoder for training a probe: of crops that are new each time, or from a
// cache of several views of every picture.
#pragma once

#include <functional>

#include "feed/cached_rows.h"
#include "feed/picture_feed.h"

namespace addp {

struct LabelledFeatures {
  Tensor features;   // [B, D]
  Tensor labels;     // [B] int64
  Tensor indices{};  // [B] int64 into the data set, where whole sets are extracted
};

struct FeatureFeedOptions {
  FeedOptions pictures;
  std::int64_t views = 0;       // kept of each picture, the middle square first; 0: none
  double middle = 1;            // share of the middle square's side
  std::filesystem::path cache;  // the file that keeps them
  std::string key;              // what they depend on beside the data: the encoder
};

class FeatureFeed {
 public:
  // pixels [B, 3, S, S] in [0, 1] -> features [B, D]
  using Extract = std::function<Tensor(const Tensor&)>;

  FeatureFeed(const FeatureFeedOptions& options, Extract extract, World& world);

  std::int64_t steps_per_epoch() const { return feed_.steps_per_epoch(); }
  void seek(std::int64_t step);
  LabelledFeatures next();
  // The middle squares of all training pictures.
  const LabelledFeatures& plain();
  const PictureFeed& pictures() const { return feed_; }

 private:
  void fill_cache(World& world);
  void write_cache(const std::string& key);
  Tensor view_features(std::int64_t view, Tensor& whole);

  FeatureFeedOptions options_;
  Extract extract_;
  PictureFeed feed_;
  Tensor cache_, labels_;  // [N, V, D], [N]
  CachedRows rows_;
  LabelledFeatures plain_;
};

// All pictures of a set in its order, middle squares.
LabelledFeatures extract_set(const std::shared_ptr<const Dataset>& dataset, std::int64_t size,
                             double middle, std::int64_t workers, const std::string& label,
                             const FeatureFeed::Extract& extract);

}  // namespace addp
