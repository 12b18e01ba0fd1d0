// Pictures with label maps or instances, transformed together, as tensors.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "data/load/loader.h"
#include "feed/picture_feed.h"
#include "nn/types.h"

namespace addp {

struct AnnotatedBatch {
  Tensor pixels;                                 // [B, 3, S, S] in [0, 1]
  Tensor labels;                                 // [B, S, S] bytes; undefined for detection
  std::vector<std::vector<Instance>> instances;  // of each picture; empty for segmentation
};

class AnnotatedFeed {
 public:
  AnnotatedFeed(std::shared_ptr<const Dataset> dataset, const FeedOptions& options,
                Transform transform, bool labels);

  std::int64_t steps_per_epoch() const;
  void seek(std::int64_t step);
  AnnotatedBatch next();
  const Dataset& dataset() const { return *dataset_; }

 private:
  void start(const LoaderState& state);

  std::shared_ptr<const Dataset> dataset_;
  FeedOptions options_;
  Transform transform_;
  bool labels_;
  std::optional<Loader> loader_;
};

// The validation split, or the training split where there is none. Its classes must be those
// that are learned.
std::shared_ptr<const Dataset> open_validation(const std::string& data, const Dataset& training,
                                               Task task, const DatasetOptions& options);

}  // namespace addp
