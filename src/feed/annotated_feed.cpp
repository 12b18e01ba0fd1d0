#include "feed/annotated_feed.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "data/load/open_dataset.h"
#include "eval/recognition/picture_tensors.h"
#include "machine/machine.h"
#include "nn/torch.h"

namespace addp {

AnnotatedFeed::AnnotatedFeed(std::shared_ptr<const Dataset> dataset, const FeedOptions& options,
                             Transform transform, bool labels)
    : dataset_(std::move(dataset)),
      options_(options),
      transform_(std::move(transform)),
      labels_(labels) {
  start({});
  if (options.rank == 0) note("{}", dataset_->description());
}

void AnnotatedFeed::start(const LoaderState& state) {
  LoaderOptions settings;
  settings.batch_size = options_.batch;
  settings.seed = static_cast<std::uint64_t>(options_.seed);
  settings.rank = static_cast<int>(options_.rank);
  settings.world = static_cast<int>(options_.world);
  settings.threads = static_cast<int>(options_.workers);
  const auto side = static_cast<int>(options_.size);
  loader_.reset();
  loader_.emplace(dataset_, BatchShape{side, side, PixelKind::kFloat, labels_}, transform_,
                  settings, state);
}

std::int64_t AnnotatedFeed::steps_per_epoch() const {
  return std::max<std::int64_t>(1, loader_->batches_per_epoch() / options_.parts);
}

void AnnotatedFeed::seek(std::int64_t step) { start(loader_->state_before(step * options_.parts)); }

AnnotatedBatch AnnotatedFeed::next() {
  auto batch = std::make_shared<Batch>();
  loader_->next(*batch);
  AnnotatedBatch out;
  for (BatchItem& item : batch->items) out.instances.push_back(std::move(item.instances));
  out.pixels = pixel_tensor(batch);
  if (labels_) {
    const auto count = static_cast<std::int64_t>(batch->size());
    const std::int64_t side = options_.size;
    out.labels = torch::from_blob(
                     batch->labels.data(), {count, side, side}, [batch](void*) {}, torch::kUInt8)
                     .to(compute_device());
  }
  return out;
}

std::shared_ptr<const Dataset> open_validation(const std::string& data, const Dataset& training,
                                               Task task, const DatasetOptions& options) {
  auto validation = open_dataset(data, held_out_split(data, options), task, options);
  if (validation->class_keys() != training.class_keys()) {
    throw DataError(
        "{}: its validation split has {} classes, the training split {}, or they are called "
        "otherwise; both must list the same ones",
        data, validation->class_keys().size(), training.class_keys().size());
  }
  return validation;
}

}  // namespace addp
