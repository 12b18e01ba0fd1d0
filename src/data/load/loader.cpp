#include "data/load/loader.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/log.h"

namespace addp {
namespace {

// Tries for one place; only a set that is broken throughout needs more.
constexpr int kReplacements = 100;
constexpr std::size_t kNamedBroken = 20;  // warnings; all are in broken()

// A batch in the making.
struct InFlight {
  Batch batch;
  std::vector<LoaderTicket> tickets;
  std::vector<std::vector<BrokenPicture>> broken;  // by place
  std::vector<char> good;
  std::size_t taken = 0, done = 0;
  std::exception_ptr error;

  bool finished() const { return done == tickets.size(); }
};

}  // namespace

void Batch::attach() {
  const std::size_t plane = std::size_t(shape.height) * std::size_t(shape.width);
  for (std::size_t i = 0; i < items.size(); ++i) {
    BatchItem& item = items[i];
    if (!floats.empty()) item.floats = std::span(floats).subspan(i * 3 * plane, 3 * plane);
    if (!bytes.empty()) item.bytes = std::span(bytes).subspan(i * 3 * plane, 3 * plane);
    if (!labels.empty()) item.labels = std::span(labels).subspan(i * plane, plane);
  }
}

void Batch::reset(const BatchShape& new_shape, std::size_t count) {
  shape = new_shape;
  const std::size_t plane = std::size_t(shape.height) * std::size_t(shape.width);
  floats.resize(shape.pixels == PixelKind::kFloat ? count * 3 * plane : 0);
  bytes.resize(shape.pixels == PixelKind::kBytes ? count * 3 * plane : 0);
  labels.resize(shape.labels ? count * plane : 0);
  items.clear();
  items.resize(count);
  attach();
}

void Batch::keep(const std::vector<char>& good) {
  const std::size_t plane = std::size_t(shape.height) * std::size_t(shape.width);
  const auto move_part = [](auto& values, std::size_t from, std::size_t to, std::size_t length) {
    if (values.empty() || from == to) return;
    const auto begin = values.begin();
    std::copy_n(begin + static_cast<std::ptrdiff_t>(from * length), length,
                begin + static_cast<std::ptrdiff_t>(to * length));
  };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (good[i] == 0) continue;
    move_part(floats, i, kept, 3 * plane);
    move_part(bytes, i, kept, 3 * plane);
    move_part(labels, i, kept, plane);
    if (i != kept) items[kept] = std::move(items[i]);
    ++kept;
  }
  items.resize(kept);
  floats.resize(floats.empty() ? 0 : kept * 3 * plane);
  bytes.resize(bytes.empty() ? 0 : kept * 3 * plane);
  labels.resize(labels.empty() ? 0 : kept * plane);
  attach();
}

struct Loader::Impl {
  std::shared_ptr<const Dataset> dataset;
  BatchShape shape;
  Transform transform;
  LoaderOptions options;
  LoaderOrder order;
  LoaderState given;  // behind the last batch that next() gave

  std::mutex mutex;
  std::condition_variable work, ready;
  bool stop = false;
  std::exception_ptr failure;  // no batch could be begun
  LoaderState opened;          // behind the last batch that was begun
  std::deque<std::unique_ptr<InFlight>> queue;
  std::vector<Batch> spare;
  std::vector<std::thread> threads;

  std::set<std::int64_t> broken_indices;
  std::vector<BrokenPicture> broken;

  Impl(std::shared_ptr<const Dataset> d, const BatchShape& s, Transform t, const LoaderOptions& o,
       const LoaderState& start)
      : dataset(std::move(d)),
        shape(s),
        transform(std::move(t)),
        options(o),
        order(dataset->size(), o),
        given(order.wrapped(start)),
        opened(given) {
    options.prefetch = std::max(options.prefetch, 1);
    const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    const int count = std::max(options.threads > 0 ? options.threads : cores, 1);
    threads.reserve(static_cast<std::size_t>(count));
    try {
      for (int i = 0; i < count; ++i) threads.emplace_back([this] { run(); });
    } catch (const std::system_error& error) {  // fewer threads make the same batches
      if (!threads.empty()) return;
      throw RuntimeError("no thread that reads pictures can be started: {}; end other programs",
                         error.code().message());
    }
  }

  void finish() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    work.notify_all();
    for (std::thread& thread : threads) thread.join();
    threads.clear();
  }

  ~Impl() { finish(); }

  bool exhausted(const LoaderState& state) const {
    return options.epochs > 0 && state.epoch >= options.epochs;
  }

  // The first batch with a place to take, beginning a new one if there is room. Needs the lock.
  InFlight* find_work() {
    for (const auto& batch : queue) {
      if (batch->taken < batch->tickets.size()) return batch.get();
    }
    while (static_cast<int>(queue.size()) < options.prefetch && !exhausted(opened)) {
      begin_batch();
      if (!queue.back()->tickets.empty()) return queue.back().get();
      ready.notify_all();  // a batch of none is finished at once
    }
    return nullptr;
  }

  void begin_batch() {
    auto batch = std::make_unique<InFlight>();
    if (!spare.empty()) {
      batch->batch = std::move(spare.back());
      spare.pop_back();
    }
    batch->tickets = order.take_batch(opened);
    const std::size_t count = batch->tickets.size();
    batch->batch.reset(shape, count);
    batch->batch.epoch = count > 0 ? batch->tickets.front().epoch : opened.epoch;
    batch->batch.after = opened;
    batch->broken.resize(count);
    batch->good.assign(count, 1);
    queue.push_back(std::move(batch));
  }

  void run() {
    std::unique_lock lock(mutex);
    while (!stop) {
      InFlight* batch = nullptr;
      try {
        batch = find_work();
      } catch (...) {
        failure = std::current_exception();
        ready.notify_all();
        return;
      }
      if (batch == nullptr) {
        work.wait(lock);
        continue;
      }
      const std::size_t place = batch->taken++;
      if (batch->taken == batch->tickets.size()) work.notify_one();
      lock.unlock();
      std::exception_ptr error;
      try {
        load_place(*batch, place);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      if (error && !batch->error) batch->error = error;
      if (++batch->done == batch->tickets.size()) ready.notify_all();
    }
  }

  void load_place(InFlight& batch, std::size_t place) {
    const LoaderTicket& ticket = batch.tickets[place];
    RandomStream random(options.seed, "augment", static_cast<std::uint64_t>(ticket.epoch),
                        static_cast<std::uint64_t>(ticket.index + dataset->size() * ticket.repeat));
    if (try_load(batch, place, ticket.index, random)) return;
    batch.good[place] = 0;
    if (!options.train) return;
    RandomStream replacement(options.seed, "replace", static_cast<std::uint64_t>(ticket.epoch),
                             static_cast<std::uint64_t>(ticket.position));
    for (int attempt = 0; attempt < kReplacements && batch.good[place] == 0; ++attempt) {
      const std::int64_t index = replacement.integer(0, dataset->size() - 1);
      RandomStream own = replacement.fork("augment", static_cast<std::uint64_t>(attempt));
      batch.good[place] = try_load(batch, place, index, own) ? 1 : 0;
    }
  }

  bool try_load(InFlight& batch, std::size_t place, std::int64_t index, RandomStream& random) {
    try {
      Sample sample = dataset->get(index);
      BatchItem& item = batch.batch.items[place];
      item.index = index;
      item.id = sample.id;
      item.name = sample.name;
      item.class_id = sample.class_id;
      transform(sample, random, item);
      return true;
    } catch (const DataError& error) {
      batch.broken[place].push_back({index, dataset->name(index), error.what()});
      return false;
    }
  }

  // In the order of the batches, so that the outcome does not depend on timing.
  void count_broken(const InFlight& batch) {
    for (const auto& place : batch.broken) {
      for (const BrokenPicture& picture : place) {
        if (!broken_indices.insert(picture.index).second) continue;
        broken.push_back(picture);
        if (broken.size() <= kNamedBroken) warn("skipped a broken picture: {}", picture.reason);
      }
    }
    const auto limit = options.max_broken * static_cast<double>(order.pictures());
    if (static_cast<double>(broken.size()) > limit) {
      throw DataError(
          "{} of the {} pictures are broken, more than {:.3g}%; the first is {} ({}); 'addp "
          "doctor' lists them all",
          broken.size(), order.pictures(), 100 * options.max_broken, broken.front().name,
          broken.front().reason);
    }
  }

  std::unique_ptr<InFlight> wait_for_batch(Batch&& used) {
    std::unique_lock lock(mutex);
    spare.push_back(std::move(used));
    const auto finished = [this] { return !queue.empty() && queue.front()->finished(); };
    ready.wait(lock, [&] { return failure || finished(); });
    if (!finished()) std::rethrow_exception(failure);
    auto batch = std::move(queue.front());
    queue.pop_front();
    work.notify_all();
    return batch;
  }

  bool next(Batch& out) {
    if (exhausted(given)) return false;
    const std::unique_ptr<InFlight> batch = wait_for_batch(std::move(out));
    if (batch->error) std::rethrow_exception(batch->error);
    count_broken(*batch);
    out = std::move(batch->batch);
    given = out.after;
    if (std::find(batch->good.begin(), batch->good.end(), 0) != batch->good.end())
      out.keep(batch->good);
    return true;
  }
};

Loader::Loader(std::shared_ptr<const Dataset> dataset, const BatchShape& shape, Transform transform,
               const LoaderOptions& options, const LoaderState& start)
    : impl_(std::make_unique<Impl>(std::move(dataset), shape, std::move(transform), options,
                                   start)) {}

Loader::~Loader() = default;

bool Loader::next(Batch& batch) { return impl_->next(batch); }
LoaderState Loader::state() const { return impl_->given; }
std::int64_t Loader::batches_per_epoch() const { return impl_->order.batches_per_epoch(); }
LoaderState Loader::state_before(std::int64_t batch) const {
  return impl_->order.state_before(batch);
}
const std::vector<BrokenPicture>& Loader::broken() const { return impl_->broken; }
const Dataset& Loader::dataset() const { return *impl_->dataset; }

}  // namespace addp
