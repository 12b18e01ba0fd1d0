#pragma once

#include <string_view>

namespace addp {

std::string_view version();  // "0.1.0", the project's version in CMakeLists.txt

}  // namespace addp
