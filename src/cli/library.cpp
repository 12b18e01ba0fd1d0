// Loads libaddp.so when a command first needs it.
#include <dlfcn.h>

#include "base/error.h"
#include "cli/command.h"
#include "commands/library_entry.h"

namespace addp {

void run_in_library(const std::string& name, const void* options, const RunContext& context) {
  void* library = ::dlopen("libaddp.so", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    throw RuntimeError("libaddp.so cannot be loaded: {}; build or install the program again",
                       ::dlerror());
  }
  const auto find = reinterpret_cast<LibraryFindCommand>(::dlsym(library, kLibraryFindCommand));
  const LibraryBody body = find == nullptr ? nullptr : find(name.c_str());
  if (body == nullptr) {
    throw RuntimeError(
        "libaddp.so has no command '{}': program and library are of different builds", name);
  }
  body(options, context);
}

}  // namespace addp
