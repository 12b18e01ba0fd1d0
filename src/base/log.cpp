#include "base/log.h"

#include <atomic>

#include "base/printable.h"

namespace addp {
namespace {
std::atomic<bool> quiet_notes{false};
}

void set_log_quiet(bool quiet) { quiet_notes = quiet; }

void log_line(std::string_view prefix, std::string_view message) {
  if (prefix.empty() && quiet_notes) return;
  // One call, so that lines of several threads do not mix.
  write_stderr(fmt::format("{}{}\n", prefix, printable(message)));
}

}  // namespace addp
