// Messages for people, on stderr. stdout belongs to data.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace addp {

void log_line(std::string_view prefix, std::string_view message);
void set_log_quiet(bool quiet);  // silences notes, never warnings

template <class... Args>
void note(fmt::format_string<Args...> format, Args&&... args) {
  log_line("", fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  log_line("warning: ", fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace addp
