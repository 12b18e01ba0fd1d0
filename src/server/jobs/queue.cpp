#include "server/jobs/queue.h"

#include <algorithm>

#include "base/error.h"
#include "server/http/http_error.h"

namespace addp {
namespace {

// Of the last batch's time, spent at most on waiting for others to join.
constexpr double kLingerShare = 0.05;
constexpr double kLongestLinger = 0.05;

}  // namespace

JobQueue::JobQueue(const QueueOptions& options) : options_(options), thread_([this] { work(); }) {}

JobQueue::~JobQueue() {
  stop();
  thread_.join();
}

std::int64_t JobQueue::pictures_waiting() const {
  std::int64_t sum = 0;
  for (const Waiting& one : waiting_) {
    if (!one.job->background()) sum += one.job->pictures() - one.taken;
  }
  return sum;
}

std::list<JobQueue::Waiting>::const_iterator JobQueue::next_waiting() const {
  const auto first = std::find_if(waiting_.begin(), waiting_.end(),
                                  [](const Waiting& one) { return !one.job->background(); });
  return first == waiting_.end() ? waiting_.begin() : first;
}

std::int64_t JobQueue::pictures_like_next() const {
  const std::string& key = next_waiting()->job->key();
  std::int64_t sum = 0;
  for (const Waiting& one : waiting_) {
    if (one.job->key() == key) sum += one.job->pictures() - one.taken;
  }
  return sum;
}

void JobQueue::submit(std::shared_ptr<Job> job) {
  {
    std::unique_lock lock(mutex_);
    if (stopped_) throw HttpError(503, "the server is shutting down");
    const std::int64_t before = pictures_waiting();
    if (!job->background() && before > 0 && before + job->pictures() > options_.waiting) {
      throw HttpError(503, "the queue is full; try again in a moment");
    }
    waiting_.push_back({std::move(job)});
  }
  changed_.notify_all();
}

void JobQueue::cancel(const std::shared_ptr<Job>& job) {
  job->cancel();
  std::unique_lock lock(mutex_);
  ++state_.cancelled;
  waiting_.remove_if([&](const Waiting& one) { return one.job == job; });
}

void JobQueue::stop() {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  const auto error = std::make_exception_ptr(HttpError(503, "the server is shutting down"));
  for (const Waiting& one : waiting_) one.job->fail(error);
  for (const Share& share : running_) {
    share.job->fail(error);
    share.job->cancel();
  }
  waiting_.clear();
  changed_.notify_all();
}

QueueState JobQueue::state() const {
  std::unique_lock lock(mutex_);
  QueueState state = state_;
  state.jobs = std::count_if(waiting_.begin(), waiting_.end(),
                             [](const Waiting& one) { return !one.job->background(); });
  state.pictures = pictures_waiting();
  for (const Share& share : running_) {
    if (!share.job->cancelled() && !share.job->background()) state.running += share.count;
  }
  return state;
}

void JobQueue::linger(std::unique_lock<std::mutex>& lock) {
  if (last_jobs_ < 2) return;
  const std::int64_t wanted = std::min(last_pictures_, options_.batch);
  const std::chrono::duration<double> most(std::min(kLingerShare * last_seconds_, kLongestLinger));
  changed_.wait_for(lock, most,
                    [&] { return stopped_ || waiting_.empty() || pictures_like_next() >= wanted; });
}

std::vector<Share> JobQueue::take_batch() {
  std::vector<Share> shares;
  std::list<Waiting> larger;  // go to the back
  std::int64_t room = options_.batch;
  const std::string key = next_waiting()->job->key();
  for (std::list<Waiting>::const_iterator one = next_waiting();
       one != waiting_.end() && room > 0;) {
    const bool joins = shares.empty() || (!key.empty() && one->job->key() == key);
    if (!joins) {
      ++one;
      continue;
    }
    const std::int64_t left = one->job->pictures() - one->taken;
    const std::int64_t count = key.empty() ? left : std::min(left, room);
    shares.push_back({one->job, one->taken, count});
    room -= count;
    if (count < left) larger.push_back({one->job, one->taken + count});
    one = waiting_.erase(one);
    if (key.empty()) break;
  }
  waiting_.splice(waiting_.end(), larger);
  return shares;
}

void JobQueue::compute(const std::vector<Share>& shares) {
  try {
    shares.front().job->run(shares);
  } catch (...) {
    for (const Share& share : shares) share.job->fail(std::current_exception());
    std::unique_lock lock(mutex_);
    waiting_.remove_if([&](const Waiting& one) {
      return std::any_of(shares.begin(), shares.end(),
                         [&](const Share& share) { return share.job == one.job; });
    });
    return;
  }
  // The shares of a job are computed in order.
  for (const Share& share : shares) {
    if (share.first + share.count == share.job->pictures()) share.job->finish();
  }
}

void JobQueue::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    if (stopped_) return;
    linger(lock);
    if (waiting_.empty()) continue;
    running_ = take_batch();
    const std::vector<Share> shares = running_;
    std::int64_t pictures = 0;
    for (const Share& share : shares) pictures += share.count;
    lock.unlock();
    const auto start = std::chrono::steady_clock::now();
    compute(shares);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    lock.lock();
    running_.clear();
    last_seconds_ = taken.count();
    last_pictures_ = pictures;
    last_jobs_ = shares.size();
    ++state_.batches;
    state_.computed += pictures;
    state_.seconds += taken.count();
  }
}

}  // namespace addp
