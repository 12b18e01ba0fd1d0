#include "data/load/picture_pass.h"

#include <algorithm>
#include <optional>

#include "base/interrupt.h"
#include "base/run/progress.h"

namespace addp {
namespace {

std::int64_t pass_length(std::int64_t size, const PicturePass& pass) {
  return pass.limit > 0 ? std::min(pass.limit, size) : size;
}

void decode_whole(Sample& sample, RandomStream& /*random*/, BatchItem& item) {
  item.image = sample.picture();
  item.instances = std::move(sample.instances);
  item.label_map = std::move(sample.labels);
}

}  // namespace

std::vector<std::int64_t> chosen_pictures(std::int64_t size, const PicturePass& pass) {
  const std::int64_t count = pass_length(size, pass);
  std::vector<std::int64_t> shuffled;
  if (pass.limit > 0 && pass.order == PassOrder::kShuffled) {
    shuffled = shuffled_order(/*seed=*/0, /*epoch=*/0, size);
  }
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = pass.rank; i < count; i += pass.world) {
    if (!shuffled.empty()) {
      chosen.push_back(shuffled[static_cast<std::size_t>(i)]);
    } else {
      chosen.push_back(pass.order == PassOrder::kSpread ? i * size / count : i);
    }
  }
  return chosen;
}

PassCount for_each_batch(const std::shared_ptr<const Dataset>& dataset, const PicturePass& pass,
                         const BatchShape& shape, const Transform& transform,
                         const std::function<void(Batch&)>& visit) {
  LoaderOptions loading;
  loading.chosen = chosen_pictures(dataset->size(), pass);
  if (loading.chosen.empty()) return {};
  const auto total = static_cast<std::int64_t>(loading.chosen.size());
  loading.batch_size = pass.batch;
  loading.train = loading.shuffle = false;
  loading.epochs = 1;
  loading.threads = static_cast<int>(pass.threads);
  loading.max_broken = pass.max_broken;
  Loader loader(dataset, shape, transform, loading);
  std::optional<Progress> progress;
  if (!pass.label.empty() && pass.rank == 0) progress.emplace(pass.label, total, "pictures");
  PassCount count;
  for (Batch batch; loader.next(batch);) {
    if (!pass.when_interrupted.empty()) throw_if_interrupted(pass.when_interrupted);
    count.left_out = static_cast<std::int64_t>(loader.broken().size());
    count.seen += static_cast<std::int64_t>(batch.size());
    if (batch.size() > 0) visit(batch);
    if (progress) progress->update(count.seen + count.left_out);
  }
  return count;
}

PassCount for_each_sample(const std::shared_ptr<const Dataset>& dataset, const PicturePass& pass,
                          const std::function<void(BatchItem&)>& visit) {
  BatchShape shape;
  shape.pixels = PixelKind::kNone;
  return for_each_batch(dataset, pass, shape, decode_whole, [&](Batch& batch) {
    for (BatchItem& item : batch.items) visit(item);
  });
}

}  // namespace addp
