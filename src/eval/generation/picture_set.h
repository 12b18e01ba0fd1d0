// The pictures of a data set, streamed past a metric in bounded memory with a progress bar.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "data/set/dataset.h"
#include "eval/generation/feature_set.h"

namespace addp {

struct PictureSetOptions {
  std::string data;  // what --data takes
  std::string split = "all";
  std::int64_t count = 0;    // at most so many, evenly spread over the set; 0: all
  std::int64_t size = 0;     // middle square, resized to this; 0: as they are
  std::int64_t threads = 0;  // that decode
};

// Calls `sink` with batches of at most `batch` decoded pictures, in the set's order. Returns how
// many there were. More than 1% of broken pictures is a DataError; an interrupt ends it.
std::int64_t for_each_picture(const PictureSetOptions& options, std::int64_t batch,
                              const std::string& label,
                              const std::function<void(std::span<const Image>)>& sink);

// How many pictures are kept as features, for precision, recall and KID.
inline constexpr std::int64_t kKeptFeatures = 10'000;

FeatureSet collect_features(const PictureSetOptions& options, const InceptionNetwork& network);

// The same through a cache: the name of the file depends on the pictures' files (names, sizes,
// times), the options and the network, so that whatever changes is computed again.
FeatureSet cached_features(const PictureSetOptions& options, const InceptionNetwork& network);

}  // namespace addp
