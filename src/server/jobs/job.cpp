#include "server/jobs/job.h"

#include <algorithm>

namespace addp {
namespace {

std::size_t size_of(const JobEvent& event) {
  if (const auto* step = std::get_if<StepView>(&event)) {
    return step->pixels.pixels.size() + 5 * step->tokens.size() + sizeof *step;
  }
  if (const auto* made = std::get_if<MadePicture>(&event)) return made->image.pixels.size();
  return sizeof event;
}

}  // namespace

void Job::post(JobEvent event) {
  {
    std::unique_lock lock(mutex_);
    if (auto* step = std::get_if<StepView>(&event); step && pending_ > kPendingBytes) {
      step->pixels = {};
    }
    pending_ += size_of(event);
    events_.push_back(std::move(event));
  }
  changed_.notify_all();
}

void Job::finish() {
  {
    std::unique_lock lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
}

void Job::fail(std::exception_ptr error) {
  {
    std::unique_lock lock(mutex_);
    if (!done_) error_ = error;
    done_ = true;
  }
  changed_.notify_all();
}

std::optional<JobEvent> Job::next(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most, [this] { return done_ || !events_.empty(); });
  if (events_.empty()) return std::nullopt;
  JobEvent event = std::move(events_.front());
  events_.pop_front();
  pending_ -= std::min(pending_, size_of(event));
  return event;
}

bool Job::over() const {
  std::unique_lock lock(mutex_);
  return done_ && events_.empty();
}

void Job::rethrow() const {
  std::unique_lock lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

bool all_cancelled(const std::vector<Share>& shares) {
  return std::all_of(shares.begin(), shares.end(),
                     [](const Share& share) { return share.job->cancelled(); });
}

}  // namespace addp
