#include "base/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "base/error.h"

namespace addp {
namespace {

std::atomic<int> requests{0};
static_assert(std::atomic<int>::is_always_lock_free, "used inside a signal handler");

void on_signal(int) {
  if (requests.fetch_add(1) > 0) ::_exit(static_cast<int>(ExitCode::kInterrupted));
}

}  // namespace

void install_interrupt_handler() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupt_requested() { return requests.load() > 0; }
void request_interrupt() { requests.fetch_add(1); }
void clear_interrupt() { requests.store(0); }

void throw_if_interrupted(std::string_view remedy) {
  if (interrupt_requested()) throw InterruptedError("interrupted; {}", remedy);
}

}  // namespace addp
