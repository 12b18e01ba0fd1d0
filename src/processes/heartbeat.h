// Finds out that a process of the run is gone, killed or cut off, and ends this one then.
//
// Every rank adds to a counter in a store that all reach; rank 0, whose process holds the store,
// watches the counters and raises an alarm there when one stands still. The others watch the alarm
// and the store. Who waits in a collective operation cannot be woken, so a second thread ends the
// process with the alarm's sentence if the alarm is not taken notice of.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>

namespace addp {

// What the ranks share. Calls may throw or never return when rank 0 is gone.
class SharedStore {
 public:
  virtual ~SharedStore() = default;
  virtual std::int64_t add(const std::string& key, std::int64_t amount) = 0;  // returns the sum
  virtual void set(const std::string& key, const std::string& value) = 0;
  virtual std::string get(const std::string& key) = 0;
};

class Heartbeat {
 public:
  // The store is used by the heartbeat alone. A RuntimeError where there are no threads to be had.
  Heartbeat(int rank, int size, double lost_seconds, std::unique_ptr<SharedStore> store);
  // Without finish() before, tells the others that this rank ends before its time.
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  // Throws the alarm's sentence as a RuntimeError, if there is one.
  void check() const;
  // Call after a network error: waits until the lost rank is known, then throws its sentence; the
  // error itself if every rank proves alive.
  [[noreturn]] void explain(const std::exception& error) const;
  // Call when all ranks have met for the last time. Rank 0 returns when all the others have called.
  void finish();

  // Marks a stretch in which this thread waits for other ranks.
  class Waiting {
   public:
    explicit Waiting(const Heartbeat& heartbeat);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    std::atomic<int>& count_;
  };

 private:
  struct State;
  void end_guard();
  void end_threads(bool by_finish);

  std::shared_ptr<State> state_;  // the threads share it: one may be stuck in the store for ever
  std::thread talker_, guard_;
};

}  // namespace addp
