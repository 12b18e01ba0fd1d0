#include "eval/recognition/picture_pass.h"

#include <algorithm>
#include <optional>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/progress.h"
#include "data/load/open_dataset.h"
#include "data/load/transforms.h"
#include "machine/machine.h"
#include "nn/torch.h"

namespace addp {
namespace {

// The first `count` pictures of the batch.
PassBatch to_pass_batch(Batch& batch, std::int64_t side, std::int64_t count) {
  PassBatch out;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    const BatchItem& item = batch.items[static_cast<std::size_t>(i)];
    labels.push_back(item.class_id);
    out.indices.push_back(item.index);
  }
  out.pixels =
      torch::from_blob(batch.floats.data(), {count, 3, side, side}).clone().to(compute_device());
  out.labels = torch::tensor(labels, torch::kInt64).to(compute_device());
  return out;
}

}  // namespace

void for_each_batch(const std::shared_ptr<const Dataset>& dataset, const PassOptions& options,
                    const std::function<void(const PassBatch&)>& visit) {
  torch::NoGradGuard guard;
  CropTransformOptions crop;
  crop.size = static_cast<int>(options.size);
  crop.middle = options.crop;
  LoaderOptions loading;
  loading.batch_size = options.batch;
  loading.train = false;
  loading.epochs = 1;
  loading.shuffle = options.limit > 0;
  loading.threads = static_cast<int>(options.workers);
  loading.rank = options.rank;
  loading.world = options.world;
  Loader loader(dataset, BatchShape{crop.size, crop.size, PixelKind::kFloat},
                options.transform ? options.transform : middle_crop_transform(crop), loading);
  const std::int64_t all =
      options.limit > 0 ? std::min(options.limit, dataset->size()) : dataset->size();
  // Every rank sees its share of each global batch, and stops behind the same one.
  std::int64_t left = (all + options.world - 1) / options.world;
  std::optional<Progress> progress;
  if (!options.label.empty() && options.rank == 0)
    progress.emplace(options.label, left, "pictures");
  Batch batch;
  while (left > 0 && loader.next(batch)) {
    if (options.interruptible) throw_if_interrupted("nothing was kept; run the command again");
    const auto count = std::min(left, static_cast<std::int64_t>(batch.size()));
    if (count == 0) continue;
    visit(to_pass_batch(batch, options.size, count));
    left -= count;
    if (progress) progress->advance(count);
  }
}

std::shared_ptr<const Dataset> open_evaluation_set(const std::string& data,
                                                   const std::string& split, Task task) {
  if (!split.empty()) return open_dataset(data, split, task);
  const std::string held_out = held_out_split(data);
  if (held_out == "train") {
    warn("{}: has no split for validation; its training pictures are used instead", data);
  }
  return open_dataset(data, held_out, task);
}

}  // namespace addp
