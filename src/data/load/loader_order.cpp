#include "data/load/loader_order.h"

#include <algorithm>

#include "base/error.h"
#include "base/random.h"

namespace addp {

std::vector<std::int64_t> shuffled_order(std::uint64_t seed, std::int64_t epoch,
                                         std::int64_t size) {
  return RandomStream(seed, "order", static_cast<std::uint64_t>(epoch)).permutation(size);
}

LoaderOrder::LoaderOrder(std::int64_t dataset_size, const LoaderOptions& options)
    : size_(options.chosen.empty() ? dataset_size
                                   : static_cast<std::int64_t>(options.chosen.size())),
      options_(options) {
  if (size_ <= 0) throw DataError("the data set has no pictures");
  if (options.batch_size < 1 || options.world < 1 || options.rank < 0 ||
      options.rank >= options.world || options.repeats < 1) {
    throw UsageError("a loader of batch size {}, rank {} of {}, {} repeats is impossible",
                     options.batch_size, options.rank, options.world, options.repeats);
  }
  length_ =
      options.train ? std::max<std::int64_t>(size_ / global_batch(), 1) * global_batch() : size_;
}

std::int64_t LoaderOrder::batches_per_epoch() const {
  return (length_ + global_batch() - 1) / global_batch();
}

// With repeats R the order is that of the first 1/R of the permutation, each picture R times in
// a row: an epoch has as many pictures as the set, as in Hoffer et al., "Augment your batch",
// and DeiT's sampler.
std::int64_t LoaderOrder::picture_at(std::int64_t epoch, std::int64_t position) {
  const std::int64_t place = position / options_.repeats % size_;
  const auto chosen = [&](std::int64_t at) {
    return options_.chosen.empty() ? at : options_.chosen[static_cast<std::size_t>(at)];
  };
  if (!options_.shuffle) return chosen(place);
  if (permuted_epoch_ != epoch) {
    permutation_ = shuffled_order(options_.seed, epoch, size_);
    permuted_epoch_ = epoch;
  }
  return chosen(permutation_[static_cast<std::size_t>(place)]);
}

LoaderState LoaderOrder::wrapped(const LoaderState& state) const {
  if (state.epoch < 0 || state.position < 0) {
    throw UsageError("a loader cannot start at epoch {}, position {}", state.epoch, state.position);
  }
  const bool room =
      options_.train ? state.position + global_batch() <= length_ : state.position < length_;
  return room ? state : LoaderState{state.epoch + 1, 0};
}

std::vector<LoaderTicket> LoaderOrder::take_batch(LoaderState& state) {
  state = wrapped(state);
  const std::int64_t count = std::min(global_batch(), length_ - state.position);
  const std::int64_t first = state.position + count * options_.rank / options_.world;
  const std::int64_t last = state.position + count * (options_.rank + 1) / options_.world;
  std::vector<LoaderTicket> tickets;
  for (std::int64_t at = first; at < last; ++at) {
    const std::int64_t round = at / options_.repeats / size_;
    tickets.push_back({picture_at(state.epoch, at), state.epoch,
                       round * options_.repeats + at % options_.repeats, at});
  }
  state = wrapped({state.epoch, state.position + count});
  return tickets;
}

LoaderState LoaderOrder::state_before(std::int64_t batch) const {
  return {batch / batches_per_epoch(), batch % batches_per_epoch() * global_batch()};
}

}  // namespace addp
