// The names that may stand in a pickle, and how it spells text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "checkpoint/pickle/pickle.h"

namespace addp {

enum class NameStanding {
  kKnown,    // rebuilt as a value, or a plain name like torch.float32
  kForeign,  // kept as a name with its arguments and attributes
  kRefused   // runs programs, opens files or connections
};
NameStanding name_standing(std::string_view module, std::string_view name);

// "torch.FloatStorage" -> F32; "torch.storage.UntypedStorage" -> U8.
std::optional<DType> storage_dtype(std::string_view name);
// "torch.float32" -> F32.
std::optional<DType> torch_dtype(std::string_view name);
// The spellings to write: "FloatStorage", empty where torch has no typed storage, and "float32".
std::string_view torch_storage_name(DType type);
std::string_view torch_dtype_name(DType type);
// Which container collections.OrderedDict, builtins.set, torch.Size ... are.
std::optional<PickleValue::Kind> container_kind(std::string_view name);
// The bytes of a UTF-8 text whose letters are all below 256; others become '?'.
std::string latin1_bytes(std::string_view utf8);
// Protocol 0 writes text with escapes: \xHH, \uHHHH, \UHHHHHHHH ...; anything else stays as it is.
std::string unescape_text(std::string_view text);

}  // namespace addp
