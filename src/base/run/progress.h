// Progress of long work: a bar with speed and time left on a terminal, plain lines elsewhere.
// Always on stderr, so that stdout carries data only.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace addp {

// "1h 02m", "3m 05s", "12s"
std::string format_duration(double seconds);
// "1.5 GiB", "12 KiB"
std::string format_bytes(std::uint64_t bytes);
// "86.4M", "1,024"
std::string format_count(std::uint64_t count);

class Progress {
 public:
  // `total` 0 means unknown. `done` is where a resumed run starts.
  Progress(std::string label, std::int64_t total, std::string unit, std::int64_t done = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Call as often as you like: the terminal is redrawn at most ten times per second, and a plain
  // line appears at most every ten seconds. `note` is shown behind the figures ("loss 6.16").
  void update(std::int64_t done, std::string_view note = {});
  void advance(std::int64_t more = 1, std::string_view note = {}) { update(done_ + more, note); }
  // Draws the final state and ends the line. The destructor does it too.
  void finish(std::string_view note = {});

  double seconds() const;
  // Units per second over the last stretch of work.
  double rate() const;

 private:
  using Clock = std::chrono::steady_clock;
  std::string line() const;
  void draw(bool last);

  std::string label_, unit_, note_;
  std::int64_t total_, done_, first_;
  Clock::time_point start_, drawn_;
  double smoothed_rate_ = 0;
  Clock::time_point rate_time_;
  std::int64_t rate_done_;
  bool terminal_, finished_ = false;
};

// Quiet mode (`--quiet`) silences every bar of the process.
void set_progress_quiet(bool quiet);

}  // namespace addp
