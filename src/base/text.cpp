#include "base/text.h"

#include <cctype>

namespace addp {

std::string lower_extension(std::string_view name) {
  const std::size_t dot = name.find_last_of("./");
  if (dot == std::string_view::npos || name[dot] == '/') return {};
  std::string extension(name.substr(dot + 1));
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace addp
