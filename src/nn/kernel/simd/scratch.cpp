#include "nn/kernel/simd/scratch.h"

namespace addp {

std::uint32_t* Scratch::words(std::int64_t count) {
  constexpr std::size_t kLine = 64;
  const auto wanted = static_cast<std::size_t>(count) + kLine / sizeof(std::uint32_t);
  if (memory_.size() < wanted) memory_.resize(wanted);
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  return reinterpret_cast<std::uint32_t*>((address + kLine - 1) / kLine * kLine);
}

Scratch& own_scratch() {
  thread_local Scratch scratch;
  return scratch;
}

}  // namespace addp
