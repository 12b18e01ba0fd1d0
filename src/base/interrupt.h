// SIGINT and SIGTERM ask for an orderly end: long loops poll, save, and throw InterruptedError.
#pragma once

#include <string_view>

namespace addp {

void install_interrupt_handler();  // a second signal ends the process at once
bool interrupt_requested();
void request_interrupt();  // what the handler does; for tests and the server
void clear_interrupt();
// Throws InterruptedError("interrupted; {remedy}") when an interrupt was asked for.
void throw_if_interrupted(std::string_view remedy);

}  // namespace addp
