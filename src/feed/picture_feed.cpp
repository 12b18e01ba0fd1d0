#include "feed/picture_feed.h"

#include <algorithm>
#include <optional>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/run/progress.h"
#include "data/load/loader.h"
#include "data/load/open_dataset.h"
#include "data/load/transforms.h"
#include "data/set/datasets.h"
#include "nn/torch.h"

namespace addp {
namespace {

// The same ones at every call, in every process.
Tensor a_few_pictures(const std::shared_ptr<const Dataset>& dataset, std::int64_t side,
                      std::int64_t count) {
  const TensorPass pass{.pictures = {.limit = count,
                                     .order = PassOrder::kShuffled,
                                     .batch = count,
                                     .max_broken = 1,
                                     .when_interrupted = ""},
                        .size = side};
  Tensor pixels;
  for_each_batch(dataset, pass, [&](const PictureBatch& batch) { pixels = batch.pixels; });
  return pixels;
}

}  // namespace

FeedOptions FeedOptions::from(const TrainOptions& options, const World& world) {
  FeedOptions feed;
  feed.data = options.data;
  feed.size = options.size;
  feed.batch = options.batch_size / (options.accumulate * world.size());
  feed.parts = options.accumulate;
  feed.seed = options.seed;
  feed.workers = options.workers;
  feed.rank = world.rank();
  feed.world = world.size();
  return feed;
}

FeedOptions FeedOptions::for_passes() const {
  FeedOptions all = *this;
  all.batch = 64;
  all.parts = all.world = 1;
  all.rank = 0;
  all.whole_epochs = true;
  return all;
}

struct PictureFeed::Impl {
  explicit Impl(const FeedOptions& o)
      : options(o),
        dataset(share_of_labels(open_dataset(o.data, o.split, o.task), o.label_share,
                                static_cast<std::uint64_t>(o.seed))) {
    start({});
  }

  Transform transform() const {
    if (options.transform) return options.transform;
    CropTransformOptions crop;
    crop.size = static_cast<int>(options.size);
    crop.crop.min_area = options.crop;
    crop.flip = options.flip;
    crop.turn = options.turn;
    return random_crop_transform(crop);
  }

  LoaderOptions loader_options() const {
    LoaderOptions loader_settings;
    loader_settings.batch_size = options.batch;
    loader_settings.train = !options.whole_epochs;
    loader_settings.repeats = static_cast<int>(options.repeats);
    loader_settings.seed = static_cast<std::uint64_t>(options.seed);
    loader_settings.rank = static_cast<int>(options.rank);
    loader_settings.world = static_cast<int>(options.world);
    loader_settings.threads = static_cast<int>(options.workers);
    return loader_settings;
  }

  void start(const LoaderState& state) {
    const auto side = static_cast<int>(options.size);
    loader.reset();
    loader.emplace(dataset, BatchShape{side, side, PixelKind::kFloat}, transform(),
                   loader_options(), state);
  }

  FeedOptions options;
  std::shared_ptr<const Dataset> dataset;
  std::optional<Loader> loader;
  mutable std::shared_ptr<const Dataset> validation;
};

PictureFeed::PictureFeed(const FeedOptions& options) : impl_(std::make_unique<Impl>(options)) {
  if (options.rank == 0 && !options.whole_epochs) note("{}", impl_->dataset->description());
}
PictureFeed::~PictureFeed() = default;

std::int64_t PictureFeed::steps_per_epoch() const {
  return std::max<std::int64_t>(1, impl_->loader->batches_per_epoch() / impl_->options.parts);
}

void PictureFeed::seek(std::int64_t step) {
  impl_->start(impl_->loader->state_before(step * impl_->options.parts));
}

PictureBatch PictureFeed::next() {
  Batch batch;
  impl_->loader->next(batch);
  return to_tensors(std::move(batch));
}

void PictureFeed::pass(const std::string& label,
                       const std::function<void(const PictureBatch&)>& visit) {
  // Batches are counted, not pictures: where one is broken, an epoch has fewer.
  Progress progress(label, impl_->dataset->size(), "pictures");
  for (std::int64_t i = 0; i < steps_per_epoch(); ++i) {
    throw_if_interrupted("nothing of it was kept; run the command again");
    const PictureBatch batch = next();
    if (!batch.indices.empty()) visit(batch);
    progress.advance(static_cast<std::int64_t>(batch.indices.size()));
  }
}

Tensor PictureFeed::training_pictures(std::int64_t count) const {
  return a_few_pictures(impl_->dataset, impl_->options.size, count);
}

Tensor PictureFeed::validation_pictures(std::int64_t count) const {
  if (!impl_->validation) {
    impl_->validation =
        open_dataset(impl_->options.data, held_out_split(impl_->options.data), Task::kPictures);
  }
  return a_few_pictures(impl_->validation, impl_->options.size, count);
}

const Dataset& PictureFeed::dataset() const { return *impl_->dataset; }

}  // namespace addp
