// Files of tokens that training keeps: several tokenized crops ("views") of every picture.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "checkpoint/format/safetensors.h"

namespace addp {

struct TokenCache {
  TensorView tokens;  // I32 [pictures, views, positions]
  TensorView labels;  // I64 [pictures]; -1 where there is no class
};

// What a cache must be for a run to use it.
struct TokenCacheLayout {
  std::string key;  // the data, the options and the tokenizer behind it
  std::int64_t views = 1, positions = 1, codes = 1;
};

// A DataError if the file is no token cache, which must then not be overwritten, or a damaged one;
// nothing if it was made of something else.
std::optional<TokenCache> parse_token_cache(const Safetensors& file, const TokenCacheLayout& layout,
                                            const std::string& source);
// Nothing, too, if there is no such file.
std::optional<TokenCache> read_token_cache(const std::filesystem::path& path,
                                           const TokenCacheLayout& layout);
void write_token_cache(const std::filesystem::path& path, const TokenCache& cache,
                       const TokenCacheLayout& layout);

}  // namespace addp
