#include "checkpoint/pickle/pickle_names.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace addp {
namespace {

using Kind = PickleValue::Kind;

struct TypeNames {
  DType type;
  std::string_view storage, dtype;
};

constexpr std::array<TypeNames, 13> kTypes{{{DType::kBool, "BoolStorage", "bool"},
                                            {DType::kU8, "ByteStorage", "uint8"},
                                            {DType::kI8, "CharStorage", "int8"},
                                            {DType::kI16, "ShortStorage", "int16"},
                                            {DType::kU16, "", "uint16"},
                                            {DType::kI32, "IntStorage", "int32"},
                                            {DType::kU32, "", "uint32"},
                                            {DType::kI64, "LongStorage", "int64"},
                                            {DType::kU64, "", "uint64"},
                                            {DType::kF16, "HalfStorage", "float16"},
                                            {DType::kBF16, "BFloat16Storage", "bfloat16"},
                                            {DType::kF32, "FloatStorage", "float32"},
                                            {DType::kF64, "DoubleStorage", "float64"}}};

struct ContainerName {
  std::string_view name;
  Kind kind;
};

constexpr std::array<ContainerName, 15> kContainers{{{"collections.OrderedDict", Kind::kDict},
                                                     {"collections.defaultdict", Kind::kDict},
                                                     {"collections.Counter", Kind::kDict},
                                                     {"collections.deque", Kind::kList},
                                                     {"torch.Size", Kind::kTuple},
                                                     {"builtins.set", Kind::kSet},
                                                     {"builtins.frozenset", Kind::kSet},
                                                     {"builtins.list", Kind::kList},
                                                     {"builtins.tuple", Kind::kTuple},
                                                     {"builtins.dict", Kind::kDict},
                                                     {"__builtin__.set", Kind::kSet},
                                                     {"__builtin__.frozenset", Kind::kSet},
                                                     {"__builtin__.list", Kind::kList},
                                                     {"__builtin__.tuple", Kind::kTuple},
                                                     {"__builtin__.dict", Kind::kDict}}};

// Modules whose functions act on the machine. Nothing here would run; the list is for the report.
constexpr std::array<std::string_view, 30> kRefusedModules{"os",        "posix",
                                                           "nt",        "subprocess",
                                                           "sys",       "shutil",
                                                           "socket",    "runpy",
                                                           "importlib", "pty",
                                                           "ctypes",    "webbrowser",
                                                           "code",      "codeop",
                                                           "commands",  "requests",
                                                           "urllib",    "http",
                                                           "ftplib",    "smtplib",
                                                           "asyncio",   "multiprocessing",
                                                           "pip",       "pickle",
                                                           "_pickle",   "marshal",
                                                           "bdb",       "pdb",
                                                           "timeit",    "profile"};
constexpr std::array<std::string_view, 13> kRefusedBuiltins{
    "eval",  "exec",    "execfile", "compile", "open",       "input", "__import__",
    "apply", "globals", "setattr",  "delattr", "breakpoint", "vars"};
constexpr std::array<std::string_view, 7> kRefusedNames{
    "io.open",    "_io.open", "torch.load", "torch.hub.load", "torch.serialization.load",
    "numpy.load", "io.FileIO"};
constexpr std::array<std::string_view, 16> kKnownNames{"argparse.Namespace",
                                                       "_codecs.encode",
                                                       "copyreg._reconstructor",
                                                       "copy_reg._reconstructor",
                                                       "torch.device",
                                                       "builtins.object",
                                                       "__builtin__.object",
                                                       "builtins.complex",
                                                       "builtins.bytes",
                                                       "builtins.bytearray",
                                                       "numpy.dtype",
                                                       "numpy.ndarray",
                                                       "builtins.slice",
                                                       "types.SimpleNamespace",
                                                       "torch.Tensor",
                                                       "torch.nn.parameter.Parameter"};

template <class List>
bool contains(const List& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool is_known(std::string_view full, std::string_view module, std::string_view name) {
  if (contains(kKnownNames, full) || container_kind(full) || storage_dtype(full) ||
      torch_dtype(full)) {
    return true;
  }
  if (module == "torch._utils" || module == "torch._tensor") return name.starts_with("_rebuild_");
  if (module == "pathlib") return true;
  return (module == "numpy.core.multiarray" || module == "numpy._core.multiarray") &&
         (name == "scalar" || name == "_reconstruct");
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | ((code >> 18) & 7));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

}  // namespace

NameStanding name_standing(std::string_view module, std::string_view name) {
  const std::string_view package = module.substr(0, module.find('.'));
  if (contains(kRefusedModules, package)) return NameStanding::kRefused;
  if ((module == "builtins" || module == "__builtin__") && contains(kRefusedBuiltins, name)) {
    return NameStanding::kRefused;
  }
  const std::string full = std::string(module) + '.' + std::string(name);
  if (contains(kRefusedNames, full)) return NameStanding::kRefused;
  return is_known(full, module, name) ? NameStanding::kKnown : NameStanding::kForeign;
}

std::optional<DType> storage_dtype(std::string_view name) {
  if (name == "torch.storage.UntypedStorage" || name == "torch.UntypedStorage") return DType::kU8;
  if (name.starts_with("torch.cuda.")) name.remove_prefix(5);
  if (!name.starts_with("torch.") && !name.starts_with(".cuda.")) return std::nullopt;
  name.remove_prefix(6);
  for (const TypeNames& known : kTypes) {
    if (!known.storage.empty() && known.storage == name) return known.type;
  }
  return std::nullopt;
}

std::optional<DType> torch_dtype(std::string_view name) {
  if (!name.starts_with("torch.")) return std::nullopt;
  for (const TypeNames& known : kTypes) {
    if (known.dtype == name.substr(6)) return known.type;
  }
  return std::nullopt;
}

std::string_view torch_storage_name(DType type) {
  return kTypes[static_cast<std::size_t>(type)].storage;
}
std::string_view torch_dtype_name(DType type) {
  return kTypes[static_cast<std::size_t>(type)].dtype;
}

std::optional<Kind> container_kind(std::string_view name) {
  for (const ContainerName& known : kContainers) {
    if (known.name == name) return known.kind;
  }
  return std::nullopt;
}

std::string latin1_bytes(std::string_view utf8) {
  std::string out;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto first = static_cast<unsigned char>(utf8[i]);
    if (first < 0x80) {
      out += utf8[i];
    } else if ((first == 0xc2 || first == 0xc3) && i + 1 < utf8.size()) {
      const auto second = static_cast<unsigned char>(utf8[++i]);
      out += static_cast<char>(((first & 3) << 6) | (second & 0x3f));
    } else {
      out += '?';
    }
  }
  return out;
}

std::string unescape_text(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char kind = text[++i];
    const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    std::uint32_t code = 0;
    const char* first = text.data() + i + 1;
    if (digits > 0 && text.size() - i - 1 >= digits &&
        std::from_chars(first, first + digits, code, 16).ptr == first + digits) {
      append_utf8(out, code);
      i += digits;
    } else {
      constexpr std::string_view kNames = "ntr0", kValues("\n\t\r\0", 4);
      const std::size_t known = kNames.find(kind);
      out += known == std::string_view::npos ? kind : kValues[known];
    }
  }
  return out;
}

}  // namespace addp
