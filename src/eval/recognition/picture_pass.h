// Every picture of a data set once, as batches of tensors: what evaluations go through.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/load/loader.h"
#include "data/set/dataset.h"
#include "nn/types.h"

namespace addp {

struct PassOptions {
  std::int64_t size = 224;
  double crop = 1;  // share of the middle square's side
  std::int64_t batch = 64;
  std::int64_t workers = 0;
  std::int64_t limit = 0;  // pictures, an even draw from the set; 0: all
  int rank = 0, world = 1;
  std::string label{};        // of the progress bar; empty: none
  Transform transform{};      // instead of the middle square
  bool interruptible = true;  // false within a training, which saves before it stops
};

struct PassBatch {
  Tensor pixels;                      // [B, 3, S, S] in [0, 1]
  Tensor labels;                      // [B] int64; -1 where there is no class
  std::vector<std::int64_t> indices;  // into the data set
};

// In the set's order, or shuffled with a fixed seed where a limit is given. Broken pictures are
// left out with a warning. No gradients are recorded. An interrupt is an InterruptedError.
void for_each_batch(const std::shared_ptr<const Dataset>& dataset, const PassOptions& options,
                    const std::function<void(const PassBatch&)>& visit);

// The split that evaluations use: val (test stands in for it), or train with a warning.
std::shared_ptr<const Dataset> open_evaluation_set(const std::string& data,
                                                   const std::string& split, Task task);

}  // namespace addp
