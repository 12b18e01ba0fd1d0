// The seam between the program and libaddp.so: one exported function that finds a command's body.
#pragma once

#include "base/run_context.h"

namespace addp {

using LibraryBody = void (*)(const void* options, const RunContext& context);
using LibraryFindCommand = LibraryBody (*)(const char* name);
inline constexpr const char* kLibraryFindCommand = "addp_find_command";

}  // namespace addp
