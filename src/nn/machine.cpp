#include "nn/machine.h"

#include <malloc.h>

#include <limits>

#include "nn/torch.h"

namespace addp {

void use_machine(std::int64_t threads) {
  if (threads > 0) torch::set_num_threads(static_cast<int>(threads));
#ifdef __GLIBC__
  constexpr int kTopPad = 64 << 20;
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, kTopPad);
#endif
}

}  // namespace addp
