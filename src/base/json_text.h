// JSON as text. Names of files and classes are bytes that need not be UTF-8, which JSON must be:
// what is not is shown as U+FFFD instead of losing the whole answer.
#pragma once

#include <string>

namespace addp {

template <class Json>
std::string json_text(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace addp
