// Small things about text.
#pragma once

#include <string>
#include <string_view>

namespace addp {

std::string lower_extension(std::string_view name);  // "pony.JPG" -> "jpg"
// Errors of libraries may carry a stack trace behind their sentence.
std::string first_line(std::string_view text);

}  // namespace addp
