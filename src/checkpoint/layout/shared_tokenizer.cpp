#include "checkpoint/layout/shared_tokenizer.h"

#include <algorithm>

#include "base/error.h"
#include "base/file/sha256.h"
#include "base/log.h"
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

// The decoder may learn on after networks were trained on the tokens.
bool makes_pictures(const std::string& name) { return name.starts_with("decoder."); }

}  // namespace

void share_tokenizer(TensorMap& tensors, OwnMetadata& own, const std::filesystem::path& folder,
                     std::optional<DType> floating) {
  const std::filesystem::path file = folder / kFile;
  const TensorMap shared = open_checkpoint(file).tensors;
  const std::string prefix = kTokenizerInside;
  std::size_t found = 0;
  bool same_pictures = true;
  for (auto item = tensors.lower_bound(prefix);
       item != tensors.end() && item->first.starts_with(prefix); item = tensors.erase(item)) {
    const std::string name = item->first.substr(prefix.size());
    const auto other = shared.find(name);
    const bool same = other != shared.end() && same_numbers(item->second, other->second, floating);
    if (makes_pictures(name)) {
      same_pictures &= same;
    } else if (same) {
      ++found;
    } else {
      throw DataError(
          "{}: does not make the tokens of the tokenizer inside the model ('{}' differs); put that "
          "one there",
          file, item->first);
    }
  }
  const auto expected =
      std::ranges::count_if(shared, [](const auto& item) { return !makes_pictures(item.first); });
  if (found != static_cast<std::size_t>(expected)) {
    throw DataError(
        "{}: its encoder has {} tensors, that of the tokenizer inside the model {}; put "
        "that one there",
        file, expected, found);
  }
  if (!same_pictures) {
    note("{}: makes the same tokens as the tokenizer inside the model, but other pictures of them",
         file);
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
