// Batches of pictures, made ahead by threads. What a batch holds depends on the seed and the state
// alone: not on the number of threads, nor on what was loaded before, nor on timing. All threads
// share the one data set.
//
// A picture that cannot be used (its data set or the transform throws a DataError) is named,
// counted and replaced, or left out where not training. When more of the set than
// LoaderOptions::max_broken is found broken, next() ends with a DataError. Any other exception of a
// thread comes out of next().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "data/load/loader_order.h"
#include "data/set/dataset.h"

namespace addp {

enum class PixelKind {
  kNone,   // pictures of their own sizes: the transform fills BatchItem::image
  kFloat,  // [B, 3, height, width]
  kBytes   // [B, height, width, 3]
};

struct BatchShape {
  int height = 0, width = 0;
  PixelKind pixels = PixelKind::kFloat;
  bool labels = false;  // [B, height, width] beside the pixels
};

// One picture of a batch. The loader sets index, id, name and class; the transform the rest.
struct BatchItem {
  std::int64_t index = -1;  // of the data set
  std::int64_t id = 0;
  std::string name;
  int class_id = -1;
  std::vector<Instance> instances;
  Image image;
  GrayImage label_map;             // as the set has it, of the picture's own size
  std::span<float> floats;         // [3, height, width]
  std::span<std::uint8_t> bytes;   // [height, width, 3]
  std::span<std::uint8_t> labels;  // [height, width]
};

struct Batch {
  BatchShape shape;
  std::vector<float> floats;
  std::vector<std::uint8_t> bytes, labels;
  std::vector<BatchItem> items;  // their spans point into the vectors above
  std::int64_t epoch = 0;
  LoaderState after;  // where a resumed run goes on

  Batch() = default;
  Batch(Batch&&) = default;
  Batch& operator=(Batch&&) = default;
  std::size_t size() const { return items.size(); }
  // Makes room for `count` pictures of `shape`, keeping memory that is large enough.
  void reset(const BatchShape& shape, std::size_t count);
  // Keeps only the pictures whose place is true in `good`, in order.
  void keep(const std::vector<char>& good);

 private:
  void attach();
};

// Turns a sample into pixels. Called from many threads at once; all randomness must come from the
// stream, which is that of (seed, epoch, index).
using Transform = std::function<void(Sample& sample, RandomStream& random, BatchItem& item)>;

struct BrokenPicture {
  std::int64_t index = 0;
  std::string name, reason;
};

class Loader {
 public:
  Loader(std::shared_ptr<const Dataset> dataset, const BatchShape& shape, Transform transform,
         const LoaderOptions& options, const LoaderState& start = {});
  ~Loader();  // may come at any time: threads finish the picture they are at

  // The next batch, or false behind the last epoch. Memory of the batch handed in is used again. A
  // rank whose share of the last batch is empty gets a batch of none.
  bool next(Batch& batch);
  // Where the batch that next() would give starts.
  LoaderState state() const;
  std::int64_t batches_per_epoch() const;
  LoaderState state_before(std::int64_t batch) const;
  // Distinct broken pictures among the batches given out so far, in the order they were met.
  const std::vector<BrokenPicture>& broken() const;
  const Dataset& dataset() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace addp
