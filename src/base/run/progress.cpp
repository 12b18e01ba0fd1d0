#include "base/run/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>

#include "base/printable.h"

namespace addp {
namespace {

std::atomic<bool> quiet_progress{false};

constexpr double kRedrawSeconds = 0.1;
constexpr double kLineSeconds = 10;
constexpr double kRateSeconds = 1;   // stretch over which a rate is measured
constexpr double kRateWeight = 0.3;  // of the newest stretch in the running average

int terminal_width() {
  struct winsize size {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) return size.ws_col;
  return 80;
}

double elapsed(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

}  // namespace

void set_progress_quiet(bool quiet) { quiet_progress = quiet; }

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "?";
  const auto total = static_cast<std::int64_t>(std::llround(seconds));
  if (total >= 3600) return fmt::format("{}h {:02}m", total / 3600, total / 60 % 60);
  if (total >= 60) return fmt::format("{}m {:02}s", total / 60, total % 60);
  return fmt::format("{}s", total);
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string format_count(std::uint64_t count) {
  if (count >= 100'000) {
    const double millions = static_cast<double>(count) / 1e6;
    return millions >= 100 ? fmt::format("{:.0f}M", millions) : fmt::format("{:.1f}M", millions);
  }
  std::string digits = std::to_string(count);
  for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > 0; place -= 3) {
    digits.insert(static_cast<std::size_t>(place), ",");
  }
  return digits;
}

Progress::Progress(std::string label, std::int64_t total, std::string unit, std::int64_t done)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      done_(done),
      first_(done),
      start_(Clock::now()),
      drawn_(start_),
      rate_time_(start_),
      rate_done_(done),
      terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (!finished_) finish();
}

double Progress::seconds() const { return elapsed(start_); }

double Progress::rate() const {
  if (smoothed_rate_ > 0) return smoothed_rate_;
  const double time = seconds();
  return time > 0 ? static_cast<double>(done_ - first_) / time : 0;
}

void Progress::update(std::int64_t done, std::string_view text) {
  done_ = done;
  if (!text.empty()) note_ = text;
  const double stretch = elapsed(rate_time_);
  if (stretch >= kRateSeconds) {
    const double now = static_cast<double>(done_ - rate_done_) / stretch;
    smoothed_rate_ =
        smoothed_rate_ > 0 ? kRateWeight * now + (1 - kRateWeight) * smoothed_rate_ : now;
    rate_time_ = Clock::now();
    rate_done_ = done_;
  }
  if (elapsed(drawn_) >= (terminal_ ? kRedrawSeconds : kLineSeconds)) draw(false);
}

void Progress::finish(std::string_view text) {
  if (!text.empty()) note_ = text;
  finished_ = true;
  smoothed_rate_ = 0;  // the closing figure is the mean over the whole
  draw(true);
}

std::string Progress::line() const {
  std::string text = label_;
  const double speed = rate();
  if (total_ > 0) {
    const double share =
        std::clamp(static_cast<double>(done_) / static_cast<double>(total_), 0., 1.);
    text += fmt::format(" {:3.0f}%", 100 * share);
    if (terminal_) {
      constexpr int kCells = 20;
      const int full = static_cast<int>(share * kCells);
      text += fmt::format(" [{}{}]", std::string(full, '#'), std::string(kCells - full, '.'));
    }
    text += fmt::format(" {}/{} {}", done_, total_, unit_);
  } else {
    text += fmt::format(" {} {}", done_, unit_);
  }
  text += fmt::format(", {:.{}f}/s", speed, speed < 10 ? 2 : 0);
  if (finished_) {
    text += fmt::format(", took {}", format_duration(seconds()));
  } else if (total_ > 0) {
    text += fmt::format(", {} left", format_duration(static_cast<double>(total_ - done_) / speed));
  }
  if (!note_.empty()) text += ", " + note_;
  return text;
}

void Progress::draw(bool last) {
  drawn_ = Clock::now();
  if (quiet_progress) return;
  std::string text = printable(line());
  if (terminal_) {
    const auto width = static_cast<std::size_t>(terminal_width() - 1);
    if (text.size() > width) text.resize(width);
    write_stderr(fmt::format("\r\033[K{}{}", text, last ? "\n" : ""));
    std::fflush(stderr);
  } else {
    write_stderr(text + "\n");
  }
}

}  // namespace addp
