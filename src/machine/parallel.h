// Work that is divided among the threads of this process, those that libtorch computes with.
#pragma once

#include <c10/util/FunctionRef.h>

#include <cstdint>

namespace addp {

// Calls work(begin, end) for parts of 0 .. count, side by side, one per thread at most and no
// more of them than parts of `grain`. What is thrown in one of them is thrown here.
void for_parts(std::int64_t count, std::int64_t grain,
               c10::function_ref<void(std::int64_t, std::int64_t)> work);

}  // namespace addp
