// libtorch's parallel_for is a template of its headers and runs one part after the other where it
// is compiled without OpenMP, so this file alone is compiled with it (CMakeLists.txt).
#include "machine/parallel.h"

#include <ATen/Parallel.h>

namespace addp {

#if defined(__GNUC__) && !defined(__clang__) && AT_PARALLEL_OPENMP && !defined(_OPENMP)
#error "compile this file with -fopenmp: without it every kernel uses one thread"
#endif

void for_parts(std::int64_t count, std::int64_t grain,
               c10::function_ref<void(std::int64_t, std::int64_t)> work) {
  at::parallel_for(0, count, grain, work);
}

}  // namespace addp
