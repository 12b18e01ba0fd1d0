// The recipes that come with the program (configs/).
#pragma once

#include <string>

namespace addp {

// The text of "addp/cells.toml"; a RuntimeError where the program was not installed whole.
std::string recipe_text(const std::string& name);

}  // namespace addp
