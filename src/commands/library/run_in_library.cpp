#include "commands/library/run_in_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "base/error.h"
#include "base/version.h"

namespace addp {
namespace {

// Threads that wait for each other spin for milliseconds by OpenMP's default. Where anything else
// wants a core (the loader, another program), a spinning thread keeps it from the one it waits for:
// a training run with two threads was measured to take five times the processor time of one with
// one thread, and to be several times slower. About 15 microseconds of spinning bridge the gaps
// between operations. OpenMP reads this when libtorch is loaded, so it must be said before.
void spin_briefly() {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  ::setenv("GOMP_SPINCOUNT", "1000", /*overwrite=*/0);
}

}  // namespace

void run_in_library(const LibraryOptions& options, const RunContext& context) {
  spin_briefly();
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
