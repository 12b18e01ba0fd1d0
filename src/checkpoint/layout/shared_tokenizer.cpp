#include "checkpoint/layout/shared_tokenizer.h"

#include <algorithm>

#include "base/error.h"
#include "base/file/sha256.h"
#include "checkpoint/format/tensor_cast.h"
#include "checkpoint/layout/checkpoint.h"

namespace addp {
namespace {

constexpr const char* kFile = "tokenizer.safetensors";
constexpr const char* kDigest = "shared_tokenizer";

bool same_numbers(const TensorView& a, const TensorView& b, std::optional<DType> floating) {
  if (a.shape != b.shape || type_after_cast(a, floating) != type_after_cast(b, floating)) {
    return false;
  }
  bool same = false;
  with_cast_bytes(a, floating, [&](ByteSpan left) {
    with_cast_bytes(b, floating, [&](ByteSpan right) { same = std::ranges::equal(left, right); });
  });
  return same;
}

}  // namespace

void share_tokenizer(TensorMap& tensors, OwnMetadata& own, const std::filesystem::path& folder,
                     std::optional<DType> floating) {
  const std::filesystem::path file = folder / kFile;
  const TensorMap shared = open_checkpoint(file).tensors;
  const std::string prefix = kTokenizerInside;
  std::size_t found = 0;
  for (auto item = tensors.lower_bound(prefix);
       item != tensors.end() && item->first.starts_with(prefix); ++found) {
    const auto other = shared.find(item->first.substr(prefix.size()));
    if (other == shared.end() || !same_numbers(item->second, other->second, floating)) {
      throw DataError(
          "{}: is not the tokenizer inside the model ('{}' differs); put that one there", file,
          item->first);
    }
    item = tensors.erase(item);
  }
  if (found != shared.size()) {
    throw DataError("{}: has {} tensors, the tokenizer inside the model {}; put that one there",
                    file, shared.size(), found);
  }
  own.config[kDigest] = FileDigest(file).hex();
}

std::filesystem::path shared_tokenizer(const nlohmann::json& config, const std::string& source) {
  const auto digest = config.find(kDigest);
  if (digest == config.end()) return {};
  const std::filesystem::path file = std::filesystem::path(source).parent_path() / kFile;
  if (!std::filesystem::exists(file)) {
    throw DataError("{}: was made to share {}, which is missing; copy it there, too", source, file);
  }
  if (*digest != FileDigest(file).hex()) {
    throw DataError("{}: was made with another tokenizer than {}; copy both from one place", source,
                    file);
  }
  return file;
}

}  // namespace addp
