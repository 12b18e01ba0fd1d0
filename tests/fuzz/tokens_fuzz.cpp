// Any bytes as a cache of tokens: a DataError, nothing, or tokens that are codes.
#include <cstdint>
#include <cstring>

#include "base/error.h"
#include "checkpoint/layout/token_cache.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace addp;
  const TokenCacheLayout layout{.key = "key", .views = 2, .positions = 4, .codes = 16};
  try {
    const Safetensors file = parse_safetensors({data, size}, nullptr, "fuzz");
    const auto cache = parse_token_cache(file, layout, "fuzz");
    if (!cache) return 0;
    const Bytes bytes = cache->tokens.contiguous_bytes();
    for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
      std::int32_t token = 0;
      std::memcpy(&token, bytes.data() + at, 4);
      if (token < 0 || token >= layout.codes) __builtin_trap();
    }
  } catch (const DataError&) {
  }
  return 0;
}
