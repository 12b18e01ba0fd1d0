#include "checkpoint/layout/token_cache.h"

#include <cstring>
#include <vector>

#include "base/error.h"

namespace addp {
namespace {

constexpr const char* kKind = "token-cache";

template <class Number>
std::vector<Number> numbers_of(const TensorView& tensor) {
  std::vector<Number> numbers(static_cast<std::size_t>(tensor.numel()));
  with_contiguous_bytes(tensor, [&](ByteSpan bytes) {
    if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  });
  return numbers;
}

// What is wrong with it; empty where nothing is.
std::string damage_of(const TokenCache& cache, const TokenCacheLayout& layout) {
  const auto& shape = cache.tokens.shape;
  if (cache.tokens.dtype != DType::kI32 || shape.size() != 3 || shape[1] != layout.views ||
      shape[2] != layout.positions) {
    return fmt::format("its tokens are {} {}", dtype_name(cache.tokens.dtype), shape_text(shape));
  }
  if (cache.labels.dtype != DType::kI64 || cache.labels.shape != std::vector{shape[0]}) {
    return fmt::format("its labels are {} {}", dtype_name(cache.labels.dtype),
                       shape_text(cache.labels.shape));
  }
  if (shape[0] == 0) return "it holds no pictures";
  for (const std::int32_t token : numbers_of<std::int32_t>(cache.tokens)) {
    if (token < 0 || token >= layout.codes) return fmt::format("it holds a token {}", token);
  }
  for (const std::int64_t label : numbers_of<std::int64_t>(cache.labels)) {
    if (label < -1) return fmt::format("it holds a class {}", label);
  }
  return {};
}

}  // namespace

std::optional<TokenCache> parse_token_cache(const Safetensors& file, const TokenCacheLayout& layout,
                                            const std::string& source) {
  const auto kind = file.metadata.find("addp.kind"), key = file.metadata.find("key");
  const bool named = kind != file.metadata.end() && kind->second == kKind;
  // The first versions wrote no kind.
  const bool early = kind == file.metadata.end() && file.tensors.contains("tokens");
  if (key == file.metadata.end() || (!named && !early)) {
    throw DataError("{}: is no cache of tokens and is left as it is; name another file", source);
  }
  if (key->second != layout.key) return {};
  const auto tokens = file.tensors.find("tokens"), labels = file.tensors.find("labels");
  if (tokens == file.tensors.end() || labels == file.tensors.end()) {
    throw DataError("{}: lacks its tokens or labels; delete it, it is then made again", source);
  }
  TokenCache cache{tokens->second, labels->second};
  const std::string damage = damage_of(cache, layout);
  if (!damage.empty()) {
    throw DataError("{}: is damaged: {}; delete it, it is then made again", source, damage);
  }
  return cache;
}

std::optional<TokenCache> read_token_cache(const std::filesystem::path& path,
                                           const TokenCacheLayout& layout) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  return parse_token_cache(read_safetensors(path), layout, path.string());
}

void write_token_cache(const std::filesystem::path& path, const TokenCache& cache,
                       const TokenCacheLayout& layout) {
  write_safetensors(path, {{"tokens", cache.tokens}, {"labels", cache.labels}},
                    {{"addp.kind", kKind}, {"key", layout.key}});
}

}  // namespace addp
