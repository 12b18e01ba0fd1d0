// One pass over a data set: which pictures, in which order, for which process, what happens to
// broken ones and to an interrupt. Everything that looks at a set once goes through here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "data/load/loader.h"
#include "data/set/dataset.h"

namespace addp {

// The pictures of a pass with a limit.
enum class PassOrder {
  kFirst,    // the first ones
  kSpread,   // evenly spread over the set, in its order
  kShuffled  // drawn with a fixed seed, so that a few pictures show several classes
};

struct PicturePass {
  std::int64_t limit = 0;  // pictures of all processes; 0: the whole set in its order
  PassOrder order = PassOrder::kFirst;
  std::int64_t batch = 1;
  std::int64_t threads = 0;  // that decode; 0: one per core
  int rank = 0, world = 1;   // this process takes every world-th of them
  double max_broken = 0.01;  // share of broken ones beyond which it is a DataError; 1: never
  std::string label{};       // of the progress bar; empty: none
  // What an interrupt says; empty: it waits, as within a training, which saves before it stops.
  std::string when_interrupted = "nothing was kept; run the command again";
};

struct PassCount {
  std::int64_t seen = 0;      // pictures that were visited
  std::int64_t left_out = 0;  // broken ones, named in warnings
};

// The pictures that this process visits of a set of `size`, in order.
std::vector<std::int64_t> chosen_pictures(std::int64_t size, const PicturePass& pass);

// Batches made by `transform`. A batch is never empty, and the visitor may keep its contents. A
// DataError that the visitor throws comes out; only pictures that cannot be loaded are left out.
PassCount for_each_batch(const std::shared_ptr<const Dataset>& dataset, const PicturePass& pass,
                         const BatchShape& shape, const Transform& transform,
                         const std::function<void(Batch&)>& visit);

// Decoded pictures one at a time, with all that the set knows of them: image, instances and
// label_map of the item are set.
PassCount for_each_sample(const std::shared_ptr<const Dataset>& dataset, const PicturePass& pass,
                          const std::function<void(BatchItem&)>& visit);

}  // namespace addp
