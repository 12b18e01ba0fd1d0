#include "base/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "base/error.h"

namespace addp {
namespace {

constexpr unsigned kPatience = 2, kLookAgain = 1;  // seconds

std::atomic<int> requests{0}, unsaved{0};
static_assert(std::atomic<int>::is_always_lock_free, "used inside a signal handler");

void on_signal(int) {
  if (requests.fetch_add(1) == 0) ::alarm(kPatience);
}

void on_alarm(int) {
  if (requests.load() == 0) return;
  if (unsaved.load() > 0) {
    ::alarm(kLookAgain);
    return;
  }
  constexpr std::string_view kSentence = "addp: interrupted; the same command starts again\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kSentence.data(), kSentence.size());
  ::_exit(static_cast<int>(ExitCode::kInterrupted));
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void install_interrupt_handler() {
  handle(SIGALRM, on_alarm);
  handle(SIGINT, on_signal);
  handle(SIGTERM, on_signal);
  struct sigaction before {};
  ::sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) handle(SIGHUP, on_signal);  // nohup has it ignored
}

bool interrupt_requested() { return requests.load() > 0; }
void request_interrupt() { requests.fetch_add(1); }
void clear_interrupt() { requests.store(0); }

void throw_if_interrupted(std::string_view remedy) {
  if (interrupt_requested()) throw InterruptedError("interrupted; {}", remedy);
}

void UnsavedWork::begin() { unsaved.fetch_add(1); }
void UnsavedWork::end() { unsaved.fetch_sub(1); }

}  // namespace addp
