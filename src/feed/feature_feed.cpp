#include "feed/feature_feed.h"

#include "base/error.h"
#include "base/file/file_io.h"
#include "checkpoint/format/safetensors.h"
#include "data/load/open_dataset.h"
#include "data/source/fingerprint.h"
#include "eval/recognition/picture_tensors.h"
#include "machine/machine.h"
#include "model/load.h"
#include "nn/torch.h"

namespace addp {

LabelledFeatures extract_set(const std::shared_ptr<const Dataset>& dataset, std::int64_t size,
                             double middle, std::int64_t workers, const std::string& label,
                             const FeatureFeed::Extract& extract) {
  std::vector<Tensor> features, labels, indices;
  const TensorPass pass{
      .pictures = {.batch = 64, .threads = workers, .label = label}, .size = size, .crop = middle};
  for_each_batch(dataset, pass, [&](const PictureBatch& batch) {
    features.push_back(extract(batch.pixels).cpu());
    labels.push_back(batch.labels.cpu());
    indices.push_back(torch::tensor(batch.indices));
  });
  return {torch::cat(features), torch::cat(labels), torch::cat(indices)};
}

FeatureFeed::FeatureFeed(const FeatureFeedOptions& options, Extract extract, World& world)
    : options_(options), extract_(std::move(extract)), feed_(options.pictures) {
  if (options_.views > 0) fill_cache(world);
}

// A random crop of every picture that plain() has, in the same order; `whole` becomes false where
// there is none.
Tensor FeatureFeed::view_features(std::int64_t view, Tensor& whole) {
  torch::NoGradGuard guard;
  FeedOptions options = options_.pictures.for_passes();
  options.seed = options.seed * 1000 + view;
  PictureFeed all(options);
  const std::int64_t count = all.dataset().size();
  Tensor features = torch::zeros({count, plain().features.size(1)});
  const Tensor filled = torch::zeros({count}, torch::kBool);
  all.pass("features", [&](const PictureBatch& batch) {
    const Tensor rows = torch::tensor(batch.indices);
    features.index_copy_(0, rows, extract_(batch.pixels).cpu());
    filled.index_fill_(0, rows, 1);
  });
  whole = whole.logical_and(filled.index_select(0, plain().indices));
  return features.index_select(0, plain().indices);
}

void FeatureFeed::write_cache(const std::string& key) {
  Tensor whole = torch::ones({plain().features.size(0)}, torch::kBool);
  std::vector<Tensor> views{plain().features};
  for (std::int64_t view = 1; view < options_.views; ++view) {
    views.push_back(view_features(view, whole));
  }
  const Tensor rows = whole.nonzero().flatten();
  make_folder_for(options_.cache);
  write_safetensors(options_.cache,
                    {{"features", to_view(torch::stack(views, 1).index_select(0, rows))},
                     {"labels", to_view(plain().labels.index_select(0, rows))}},
                    {{"key", key}});
}

void FeatureFeed::fill_cache(World& world) {
  const FeedOptions& feed = options_.pictures;
  const std::string key =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", feed.data, fingerprint(feed.data), feed.size,
                  feed.crop, feed.flip, options_.views, feed.seed, options_.key);
  const auto matches = [&] {
    return std::filesystem::exists(options_.cache) &&
           read_safetensors(options_.cache).metadata["key"] == key;
  };
  if (world.is_main() && !matches()) write_cache(key);
  world.barrier();
  const Safetensors saved = read_safetensors(options_.cache);
  const auto features = saved.tensors.find("features"), labels = saved.tensors.find("labels");
  if (features == saved.tensors.end() || labels == saved.tensors.end() ||
      features->second.shape.size() != 3 || features->second.shape[1] != options_.views ||
      labels->second.shape != std::vector{features->second.shape[0]}) {
    throw DataError("{}: is damaged; delete it, it is then made again", options_.cache);
  }
  cache_ = to_torch(features->second);
  labels_ = to_torch(labels->second);
  plain_ = {cache_.select(1, 0).contiguous(), labels_, {}};
  rows_ = CachedRows(feed, cache_.size(0), options_.views, steps_per_epoch());
}

void FeatureFeed::seek(std::int64_t step) {
  rows_.seek(step);
  if (!cache_.defined()) feed_.seek(step);
}

LabelledFeatures FeatureFeed::next() {
  torch::NoGradGuard guard;
  if (!cache_.defined()) {
    const PictureBatch batch = feed_.next();
    return {extract_(batch.pixels), batch.labels, {}};
  }
  const CachedBatch batch = rows_.next();
  const Tensor pictures = torch::tensor(batch.pictures), views = torch::tensor(batch.views);
  return {
      cache_.flatten(0, 1).index_select(0, pictures * options_.views + views).to(compute_device()),
      labels_.index_select(0, pictures).to(compute_device()), pictures};
}

const LabelledFeatures& FeatureFeed::plain() {
  if (!plain_.features.defined()) {
    const auto dataset =
        open_dataset(options_.pictures.data, options_.pictures.split, Task::kClassification);
    plain_ = extract_set(dataset, options_.pictures.size, options_.middle,
                         options_.pictures.workers, "training features", extract_);
  }
  return plain_;
}

}  // namespace addp
