// One request's work, from the client's thread to the computing thread and back.
//
// A job consists of pictures. The queue takes shares of jobs whose keys are equal and computes them
// as one batch. What comes out is posted to the job, where the client's thread waits for it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "image/box.h"
#include "image/image.h"
#include "nn/types.h"

namespace addp {

// The part of an edited picture that the network works on, and the tokens over it.
struct EditWindow {
  PixelBox box;
  Grid grid;
  std::int64_t steps = 0;  // of all passes
};

// What a picture is after a step.
struct StepView {
  std::int64_t picture = 0;  // of the job
  std::int64_t step = 0, steps = 0;
  std::vector<std::int32_t> tokens;
  std::vector<std::uint8_t> reliable;  // 1 where a token is
  Image pixels;                        // x_t; left out where the client is too slow to take it
};

struct MadePicture {
  std::int64_t picture = 0;
  Image image;
};

using JobEvent = std::variant<EditWindow, StepView, MadePicture>;

class Job;
// Pictures [first, first + count) of a job.
struct Share {
  std::shared_ptr<Job> job;
  std::int64_t first = 0, count = 0;
};

class Job {
 public:
  // Jobs of the same key, which is not empty, can be computed together.
  Job(std::string key, std::int64_t pictures) : key_(std::move(key)), pictures_(pictures) {}
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const std::string& key() const { return key_; }
  std::int64_t pictures() const { return pictures_; }

  // Computes shares of jobs of this one's key and type; called by the computing thread.
  virtual void run(const std::vector<Share>& shares) = 0;

  // No client waits for a background job: it is computed when no other waits, and takes no place in
  // the queue. Said before it is submitted.
  void set_background() { background_ = true; }
  bool background() const { return background_; }

  void cancel() { cancelled_ = true; }
  bool cancelled() const { return cancelled_; }

  // --- the computing thread's side
  void post(JobEvent event);
  void finish();
  void fail(std::exception_ptr error);

  // --- the client's side
  // The next event, waiting for it at most that long; nothing if none came or all are taken.
  std::optional<JobEvent> next(std::chrono::milliseconds most);
  // Finished or failed, and every event was taken.
  bool over() const;
  // Throws what the computation threw.
  void rethrow() const;

 private:
  // A client that takes its events more slowly than they come loses the pictures of steps beyond
  // this, never the results.
  static constexpr std::size_t kPendingBytes = 24 << 20;

  std::string key_;
  std::int64_t pictures_;
  bool background_ = false;
  std::atomic<bool> cancelled_{false};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<JobEvent> events_;
  std::size_t pending_ = 0;  // bytes of events_
  bool done_ = false;
  std::exception_ptr error_;
};

// True when nobody waits for any of the shares.
bool all_cancelled(const std::vector<Share>& shares);

}  // namespace addp
