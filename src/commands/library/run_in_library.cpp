#include "commands/library/run_in_library.h"

#include <dlfcn.h>

#include "base/error.h"
#include "base/version.h"

namespace addp {

void run_in_library(const LibraryOptions& options, const RunContext& context) {
  void* library = ::dlopen("libaddp.so", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    throw RuntimeError("libaddp.so cannot be loaded: {}; build or install the program again",
                       ::dlerror());
  }
  const auto build = reinterpret_cast<LibraryBuild>(::dlsym(library, kLibraryBuild));
  const auto run = reinterpret_cast<LibraryRun>(::dlsym(library, kLibraryRun));
  if (build == nullptr || run == nullptr || version() != build()) {
    throw RuntimeError(
        "libaddp.so and the program are of different builds; build or install both again");
  }
  run(options, context);
}

}  // namespace addp
