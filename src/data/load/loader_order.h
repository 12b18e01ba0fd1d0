// Which pictures make which batch: a pure function of (seed, epoch, position), whatever the number
// of threads, and for a given global batch the same pictures on any number of ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace addp {

struct LoaderOptions {
  std::int64_t batch_size = 1;  // pictures that one rank gets at a time
  std::int64_t epochs = 0;      // 0: endless
  // Whole batches only, and a broken picture is replaced by another; else every picture comes once,
  // the last batch may be short, and broken ones are omitted.
  bool train = true;
  bool shuffle = true;
  int repeats = 1;  // repeated augmentation: neighbours in the order that show the same picture
  std::uint64_t seed = 0;
  int rank = 0, world = 1;
  int threads = 0;           // 0: one per core
  int prefetch = 3;          // batches in the making or waiting, at most
  double max_broken = 0.01;  // share of broken pictures in the set beyond which the run ends
  std::vector<std::int64_t> chosen{};  // the pictures to take, in order; empty: the whole set
};

// Where the next batch starts. Counted in pictures of all ranks together, so that a run may go on
// with another batch size or another number of ranks.
struct LoaderState {
  std::int64_t epoch = 0;
  std::int64_t position = 0;

  bool operator==(const LoaderState&) const = default;
};

// One place of a batch.
struct LoaderTicket {
  std::int64_t index = 0;  // of the data set
  std::int64_t epoch = 0;
  std::int64_t repeat = 0;    // how many times the epoch has shown this picture before
  std::int64_t position = 0;  // in the epoch, over all ranks
};

// The order of an epoch that is shuffled.
std::vector<std::int64_t> shuffled_order(std::uint64_t seed, std::int64_t epoch, std::int64_t size);

class LoaderOrder {
 public:
  LoaderOrder(std::int64_t dataset_size, const LoaderOptions& options);

  std::int64_t pictures() const { return size_; }  // that there are to take
  // At least one: in training a set smaller than a batch is gone through more than once.
  std::int64_t batches_per_epoch() const;
  // The start of the next epoch where too little of this one is left for a batch.
  LoaderState wrapped(const LoaderState& state) const;
  // The places of this rank's batch at `state`; moves `state` to the next one.
  std::vector<LoaderTicket> take_batch(LoaderState& state);
  // The state before batch number `batch` of a run from the beginning.
  LoaderState state_before(std::int64_t batch) const;

 private:
  std::int64_t global_batch() const { return options_.batch_size * options_.world; }
  std::int64_t picture_at(std::int64_t epoch, std::int64_t position);

  std::int64_t size_, length_;
  LoaderOptions options_;
  std::int64_t permuted_epoch_ = -1;
  std::vector<std::int64_t> permutation_;
};

}  // namespace addp
