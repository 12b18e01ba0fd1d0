// From what --data names to a data set.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/set/dataset.h"

namespace addp {

// `spec` is what --data takes: a folder, a file list, an archive, shards, or
// shapes[:k=v,...].
// `split` is "train", "val", "test" or "all"; a set without splits gives everything as
// "train" and as "all". The task decides what samples carry and what is an error. Problems of
// annotations are warned about.
std::shared_ptr<const Dataset> open_dataset(const std::string& spec, const std::string& split,
                                            Task task, const DatasetOptions& options = {});

// The splits that can be asked for: {"train", "val"}, or {"train"} where there are none.
std::vector<std::string> dataset_splits(const std::string& spec,
                                        const DatasetOptions& options = {});
// The split to measure on: "val", else "test", else "train", which is all there is then.
std::string held_out_split(const std::string& spec, const DatasetOptions& options = {});
// `split`, or where it is empty the one to measure on, with a warning if that is the training's.
std::shared_ptr<const Dataset> open_evaluation_set(const std::string& spec,
                                                   const std::string& split, Task task);

}  // namespace addp
