#include "eval/generation/picture_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file/cache.h"
#include "base/file/sha256.h"
#include "base/log.h"
#include "data/load/open_dataset.h"
#include "data/load/picture_pass.h"
#include "data/load/transforms.h"
#include "data/source/fingerprint.h"

namespace addp {
namespace {

namespace fs = std::filesystem;

Transform whole_or_square(std::int64_t size) {
  return [size](Sample& sample, RandomStream&, BatchItem& item) {
    if (size == 0) {
      item.image = sample.picture();
      return;
    }
    item.image = crop_sample(sample, [&](const ImageInfo& info) {
      CropRequest request;
      request.box = center_box(info.width, info.height, std::min(info.width, info.height));
      request.width = request.height = static_cast<int>(size);
      request.reduced = false;
      return request;
    });
  };
}

fs::path cache_file(const PictureSetOptions& options, const InceptionNetwork& network) {
  const std::string key = fmt::format("{} {} {} {} {} {}", fingerprint(options.data), options.split,
                                      options.count, options.size, network.hash(), kKeptFeatures);
  return cache_folder() / "statistics" /
         (sha256_hex(as_byte_span(key)).substr(0, 32) + ".safetensors");
}

std::string resize_text(const PictureSetOptions& options) {
  return options.size == 0 ? "none"
                           : fmt::format("middle square to {0}x{0}, bicubic", options.size);
}

}  // namespace

std::int64_t for_each_picture(const PictureSetOptions& options, std::int64_t batch,
                              const std::string& label,
                              const std::function<void(std::span<const Image>)>& sink) {
  const auto set = open_dataset(options.data, options.split, Task::kPictures);
  const PicturePass pass{.limit = options.count,
                         .order = PassOrder::kSpread,
                         .batch = batch,
                         .threads = options.threads,
                         .label = label};
  BatchShape shape;
  shape.pixels = PixelKind::kNone;
  const auto visit = [&](Batch& items) {
    std::vector<Image> images;
    for (BatchItem& item : items.items) images.push_back(std::move(item.image));
    sink(images);
  };
  return for_each_batch(set, pass, shape, whole_or_square(options.size), visit).seen;
}

FeatureSet collect_features(const PictureSetOptions& options, const InceptionNetwork& network) {
  const std::string source =
      options.split == "all" ? options.data : fmt::format("{} ({})", options.data, options.split);
  FeatureCollector collector(network, kKeptFeatures, {"", source, resize_text(options)});
  for_each_picture(options, 32, "features",
                   [&](std::span<const Image> images) { collector.add(images); });
  if (collector.count() < 2) {
    throw DataError("{}: {} pictures are too few to compare", source, collector.count());
  }
  return std::move(collector).finish();
}

FeatureSet cached_features(const PictureSetOptions& options, const InceptionNetwork& network) {
  const fs::path path = cache_file(options, network);
  std::error_code error;
  if (fs::exists(path, error)) {
    try {
      FeatureSet set = read_feature_set(path);
      note("statistics of {} from the cache ({})", options.data, path);
      return set;
    } catch (const DataError& problem) {
      warn("{}; it is computed again", problem.what());
    }
  }
  FeatureSet set = collect_features(options, network);
  try {
    make_folder(path.parent_path());
    write_feature_set(path, set);
  } catch (const Error& problem) {
    warn("the statistics could not be kept: {}", problem.what());
  }
  return set;
}

}  // namespace addp
