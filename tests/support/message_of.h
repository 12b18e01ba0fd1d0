// What an action complains about.
#pragma once

#include <string>

namespace addp::testing {

// The text of the Error that the action throws; empty where it throws none.
template <class Error, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace addp::testing
