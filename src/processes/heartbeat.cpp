#include "processes/heartbeat.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/log.h"

namespace addp {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// After the alarm, in shares of the silence that leads to it: a thread that waits for other ranks
// will not come back, any other may be about to notice. All together stays below a minute.
constexpr double kGraceWaiting = 0.4, kGraceWorking = 1.5;
// After a broken connection, silence of this length is proof enough.
constexpr Seconds kSilenceOfSuspect{4};
// How long a leaving rank tries to tell the others.
constexpr Seconds kFarewell{3};

constexpr char kAlarm[] = "alarm", kAlarmClaims[] = "alarm/claims", kAlarmText[] = "alarm/text",
               kSuspicions[] = "suspicions", kFinished[] = "finished";
std::string beat_key(int rank) { return fmt::format("beat/{}", rank); }

constexpr char kRemedy[] = "the same command resumes the run from its last checkpoint";

}  // namespace

struct Heartbeat::State {
  // The alarm's value: a rank is gone, or it is ending while the others go on.
  enum AlarmKind : std::int64_t { kNone = 0, kLost = 1, kEndsEarly = 2 };

  int rank = 0, size = 1;
  Seconds lost{20}, interval{1};
  std::unique_ptr<SharedStore> store;

  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::string alarm;  // empty: all is well
  AlarmKind kind = kNone;
  bool suspicion = false;  // this rank has met a broken connection
  bool stopping = false;   // the owner ends the threads
  bool by_finish = false;  // ... because the run is over
  bool talker_done = false;
  Clock::time_point alarm_time, contact = Clock::now();
  mutable std::atomic<int> waiting{0};

  // Used by the talking thread alone.
  struct Seen {
    std::int64_t beats = -1;
    Clock::time_point time = Clock::now();
  };
  std::vector<Seen> seen;
  bool told_suspicion = false;

  std::string lost_sentence(int who, Seconds silence) const {
    return fmt::format("rank {} of {} was lost (no sign of life for {:.0f} s); {}", who, size,
                       silence.count(), kRemedy);
  }
  void raise(const std::string& sentence, AlarmKind what);
  void publish(const std::string& sentence, AlarmKind what);
  void talk();
  void tick(Clock::time_point last_tick);
  void watch_others(bool suspected, bool was_asleep);
  void talk_until_stopped();
  void guard();
};

void Heartbeat::State::raise(const std::string& sentence, AlarmKind what) {
  {
    const std::lock_guard lock(mutex);
    if (!alarm.empty()) return;
    alarm = sentence;
    kind = what;
    alarm_time = Clock::now();
  }
  changed.notify_all();
}

// The first alarm counts: what comes later are its consequences.
void Heartbeat::State::publish(const std::string& sentence, AlarmKind what) {
  if (store->add(kAlarmClaims, 1) != 1) return;
  store->set(kAlarmText, sentence);
  store->add(kAlarm, what);
}

void Heartbeat::State::watch_others(bool suspected, bool was_asleep) {
  const Seconds patience = suspected ? std::min(lost, kSilenceOfSuspect) : lost;
  for (int other = 1; other < size; ++other) {
    Seen& one = seen[static_cast<std::size_t>(other)];
    const std::int64_t beats = store->add(beat_key(other), 0);
    const auto now = Clock::now();
    if (beats != one.beats || was_asleep) {
      one = {beats, now};
    } else if (now - one.time > patience) {
      publish(lost_sentence(other, now - one.time), kLost);
      return;
    }
  }
}

void Heartbeat::State::tick(Clock::time_point last_tick) {
  bool suspects = false;
  {
    const std::lock_guard lock(mutex);
    suspects = suspicion;
  }
  store->add(beat_key(rank), 1);
  if (suspects && !told_suspicion) store->add(kSuspicions, 1);
  told_suspicion = suspects;
  // A process that was stopped (Ctrl-Z, a suspended machine) must not blame the others for it.
  const bool was_asleep = Clock::now() - last_tick > lost / 2;
  if (rank == 0) watch_others(store->add(kSuspicions, 0) > 0, was_asleep);
  const std::int64_t what = store->add(kAlarm, 0);
  if (what != kNone) raise(store->get(kAlarmText), static_cast<AlarmKind>(what));
}

void Heartbeat::State::talk_until_stopped() {
  auto last_tick = Clock::now();
  for (;;) {
    {
      std::unique_lock lock(mutex);
      if (changed.wait_for(lock, interval, [this] { return stopping; })) return;
    }
    tick(last_tick);
    last_tick = Clock::now();
    const std::lock_guard lock(mutex);
    contact = last_tick;
  }
}

void Heartbeat::State::talk() {
  try {
    talk_until_stopped();
    // Nobody else may see "finished" before this thread is through with the store.
    if (by_finish) {
      store->add(kFinished, 1);
      while (rank == 0 && store->add(kFinished, 0) < size)
        std::this_thread::sleep_for(interval / 5);
    } else {
      publish(fmt::format("rank {} of {} ended before the others, its own message says why; {}",
                          rank, size, kRemedy),
              kEndsEarly);
      // The store ends with this process: give the others time to look.
      if (rank == 0) std::this_thread::sleep_for(2 * interval);
    }
  } catch (const std::exception&) {
    raise(fmt::format("rank 0 of {} was lost (its store does not answer); {}", size, kRemedy),
          kLost);
  }
  {
    const std::lock_guard lock(mutex);
    talker_done = true;
  }
  changed.notify_all();
}

// Ends the process when the alarm is not taken notice of in time.
void Heartbeat::State::guard() {
  auto last_look = Clock::now();
  std::unique_lock lock(mutex);
  while (!changed.wait_for(lock, interval, [this] { return stopping; })) {
    const auto now = Clock::now();
    if (now - last_look > lost / 2) contact = now;  // this process was stopped
    last_look = now;
    if (alarm.empty() && now - contact > lost) {
      lock.unlock();
      raise(lost_sentence(0, now - contact), kLost);
      lock.lock();
    }
    if (alarm.empty()) continue;
    const Seconds elapsed = now - alarm_time;
    const bool overdue = waiting > 0 ? elapsed > kGraceWaiting * lost
                                     : kind == kLost && elapsed > kGraceWorking * lost;
    if (overdue) {
      log_line("addp: ", alarm);
      std::_Exit(static_cast<int>(ExitCode::kRuntime));
    }
  }
}

Heartbeat::Heartbeat(int rank, int size, double lost_seconds, std::unique_ptr<SharedStore> store)
    : state_(std::make_shared<State>()) {
  state_->rank = rank;
  state_->size = size;
  state_->lost = Seconds(lost_seconds);
  state_->interval = Seconds(std::min(1.0, lost_seconds / 10));
  state_->store = std::move(store);
  state_->seen.resize(static_cast<std::size_t>(size));
  try {
    guard_ = std::thread([state = state_] { state->guard(); });
    talker_ = std::thread([state = state_] { state->talk(); });
  } catch (const std::system_error& error) {
    end_guard();
    throw RuntimeError(
        "rank {} of {} cannot start the threads that watch the other ranks: {}; end other programs",
        rank, size, error.code().message());
  }
}

void Heartbeat::end_guard() {
  if (!guard_.joinable()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->changed.notify_all();
  guard_.join();
}

Heartbeat::~Heartbeat() { end_threads(false); }

void Heartbeat::finish() { end_threads(true); }

void Heartbeat::end_threads(bool by_finish) {
  if (!guard_.joinable()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->by_finish = by_finish;
  }
  end_guard();
  bool talker_done = false;
  {
    std::unique_lock lock(state_->mutex);
    const Seconds patience = by_finish ? std::max(kFarewell, state_->lost) : kFarewell;
    talker_done = state_->changed.wait_for(lock, patience, [this] { return state_->talker_done; });
  }
  // A thread stuck in the store of a lost rank is left to itself; it holds all it needs.
  if (talker_done) {
    talker_.join();
  } else {
    talker_.detach();
  }
}

void Heartbeat::check() const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->alarm.empty()) throw RuntimeError("{}", state_->alarm);
}

void Heartbeat::explain(const std::exception& error) const {
  {
    std::unique_lock lock(state_->mutex);
    state_->suspicion = true;
    const Seconds patience = std::min(state_->lost, kSilenceOfSuspect) + 5 * state_->interval;
    state_->changed.wait_for(lock, patience, [this] { return !state_->alarm.empty(); });
  }
  check();
  const std::string text = error.what();
  throw RuntimeError("rank {} of {} lost the connection to another rank: {}", state_->rank,
                     state_->size, text.substr(0, text.find('\n')));
}

Heartbeat::Waiting::Waiting(const Heartbeat& heartbeat) : count_(heartbeat.state_->waiting) {
  ++count_;
}
Heartbeat::Waiting::~Waiting() { --count_; }

}  // namespace addp
