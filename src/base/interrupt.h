// SIGINT, SIGTERM and SIGHUP ask for an orderly end: long loops poll, save, and throw
// InterruptedError. A process that has not ended two seconds later is ended where it stands, unless
// it holds work that is not saved yet; signals that follow the first change nothing.
#pragma once

#include <string_view>

namespace addp {

void install_interrupt_handler();
bool interrupt_requested();
void request_interrupt();  // what the handler does; for tests and the server
void clear_interrupt();
// Throws InterruptedError("interrupted; {remedy}") when an interrupt was asked for.
void throw_if_interrupted(std::string_view remedy);

// While one lives, a signal does no more than interrupt_requested() tells: whoever holds it must
// look at that, save, and let go.
class UnsavedWork {
 public:
  UnsavedWork() { begin(); }
  ~UnsavedWork() { end(); }
  static void begin();
  static void end();
  UnsavedWork(const UnsavedWork&) = delete;
  UnsavedWork& operator=(const UnsavedWork&) = delete;
};

}  // namespace addp
