// Waiting for what other processes do.
#pragma once

#include <chrono>
#include <thread>

namespace addp::testing {

// Whether the condition holds within a minute.
template <class Condition>
bool eventually(const Condition& condition) {
  for (int i = 0; i < 1200; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

}  // namespace addp::testing
