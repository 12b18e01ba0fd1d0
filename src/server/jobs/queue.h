// The one queue: jobs wait in order, one thread computes. What waits together and fits together is
// computed as one batch. A job that is larger than its share goes to the back, so that a small one
// behind it need not wait for all of it. Background jobs are computed when no other waits.
#pragma once

#include <list>
#include <thread>

#include "server/jobs/job.h"

namespace addp {

struct QueueOptions {
  std::int64_t batch = 16;      // pictures computed together, at most
  std::int64_t waiting = 1024;  // pictures in the queue, at most
};

struct QueueState {
  std::int64_t jobs = 0, pictures = 0;  // waiting, without background jobs
  std::int64_t running = 0;             // pictures in the present batch that a client waits for
  std::int64_t batches = 0, computed = 0, cancelled = 0;
  double seconds = 0;  // of computation
};

class JobQueue {
 public:
  explicit JobQueue(const QueueOptions& options);
  ~JobQueue();
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  // An HttpError (503) at once where there is no room.
  void submit(std::shared_ptr<Job> job);
  // Nobody waits for it any more: its place in the queue is free at once, and its pictures in the
  // present batch are computed no further than the step they are in.
  void cancel(const std::shared_ptr<Job>& job);
  // Cancels everything and refuses what comes.
  void stop();
  QueueState state() const;

 private:
  struct Waiting {
    std::shared_ptr<Job> job;
    std::int64_t taken = 0;
  };

  void work();
  // Waits a moment for the others where the last batch had several jobs in it: clients that ask
  // again at once would else be split into a batch of one and a batch of the rest.
  void linger(std::unique_lock<std::mutex>& lock);
  std::vector<Share> take_batch();
  // Whose turn it is; something waits.
  std::list<Waiting>::const_iterator next_waiting() const;
  void compute(const std::vector<Share>& shares);
  std::int64_t pictures_waiting() const;
  std::int64_t pictures_like_next() const;

  QueueOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Waiting> waiting_;
  std::vector<Share> running_;
  QueueState state_;
  double last_seconds_ = 0;
  std::int64_t last_pictures_ = 0;
  std::size_t last_jobs_ = 0;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace addp
