#include "checkpoint/layout/checkpoint.h"

#include <fmt/ranges.h>

#include <array>
#include <set>
#include <utility>

#include "base/error.h"
#include "checkpoint/format/safetensors.h"
#include "checkpoint/pickle/pickle.h"
#include "checkpoint/pickle/torch_file.h"

namespace addp {
namespace {

using Kind = PickleValue::Kind;
using Json = nlohmann::json;

// Where the field's programs put the model: MAE and its descendants, Lightning, the
// PyTorch tutorials, timm.
constexpr std::array<std::string_view, 6> kRoots{"model",     "state_dict", "model_state_dict",
                                                 "model_ema", "net",        "module"};

bool holds_tensors(const PickleValue& value) {
  if (!value.is(Kind::kDict)) return false;
  for (std::size_t i = 1; i < value.items.size(); i += 2) {
    if (value.items[i]->is(Kind::kTensor)) return true;
  }
  return false;
}

std::string key_text(const PickleValue& key) {
  return key.is(Kind::kString) ? clean_utf8(key.text)
         : key.is(Kind::kInt)  ? std::to_string(key.integer)
                               : "?";
}

std::vector<std::string> key_list(const PickleValue& dict, std::size_t limit) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < dict.items.size() && keys.size() < limit; i += 2) {
    keys.push_back(key_text(*dict.items[i]));
  }
  return keys;
}

// Optimizers, second copies of the weights and the like are counted, not copied.
Json summarise(const Pickle& pickle, const std::string& key, const PickleValue& value,
               PickleBudget& budget) {
  const std::size_t tensors = value.is(Kind::kTensor) ? 0 : count_tensors(value, budget);
  if (tensors == 0 && key.find("optimizer") == std::string::npos) {
    return pickle_to_json(pickle, value, budget);
  }
  Json summary{{"tensors", tensors}};
  if (value.is(Kind::kDict)) summary["entries"] = value.items.size() / 2;
  return summary;
}

// Tensors of `dict` go to the checkpoint, everything else to its metadata.
void take_state_dict(const Pickle& pickle, const PickleValue& dict, PickleBudget& budget,
                     Checkpoint& checkpoint) {
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const PickleValue& key = *dict.items[i];
    const PickleValue& value = *dict.items[i + 1];
    if (value.is(Kind::kTensor)) {
      const std::string name = key_text(key);
      if (!key.is(Kind::kString) || name != key.text) {
        throw DataError("{}: a tensor's name '{}' is not UTF-8 text", checkpoint.path, name);
      }
      checkpoint.tensors[name] = pickle.tensor(value);
    } else if (value.is(Kind::kObject) &&
               (value.text == "torch.Tensor" || value.text.starts_with("torch._utils"))) {
      throw DataError(
          "{}: '{}' is a tensor of a kind that is not supported (complex, quantised, sparse or "
          "8-bit floating point); save it as float32",
          checkpoint.path, key_text(key));
    } else {
      checkpoint.metadata[key_text(key)] = summarise(pickle, key_text(key), value, budget);
    }
  }
}

// torch.jit.save keeps modules as objects whose attributes are tensors and further modules.
void take_script(const Pickle& pickle, const PickleValue& value, const std::string& prefix,
                 int depth, PickleBudget& budget, Checkpoint& checkpoint) {
  if (depth > 32 || budget.visits < 256) {
    throw DataError("{}: its modules are nested without end", checkpoint.path);
  }
  const PickleValue* state = value.is(Kind::kObject) ? value.state : &value;
  if (state == nullptr || !state->is(Kind::kDict)) return;
  for (std::size_t i = 0; i + 1 < state->items.size(); i += 2) {
    const PickleValue& child = *state->items[i + 1];
    budget.visits -= std::min<std::size_t>(budget.visits, 256);
    const std::string name = prefix + key_text(*state->items[i]);
    if (child.is(Kind::kTensor)) {
      checkpoint.tensors[name] = pickle.tensor(child);
    } else if (child.is(Kind::kObject)) {
      take_script(pickle, child, name + ".", depth + 1, budget, checkpoint);
    }
  }
}

void pick_tensors(const Pickle& pickle, Checkpoint& checkpoint) {
  const PickleValue& top = *pickle.root;
  PickleBudget budget;
  const PickleValue* model = nullptr;
  for (const std::string_view root : kRoots) {
    const PickleValue* value = top.find(root);
    if (value == nullptr || !holds_tensors(*value)) continue;
    model = value;
    checkpoint.root = root;
    break;
  }
  if (model == nullptr && holds_tensors(top))
    return take_state_dict(pickle, top, budget, checkpoint);
  if (model == nullptr) {
    throw DataError(
        "{}: holds no dict of tensors at the top or under {}; its entries are: {}. "
        "Save model.state_dict()",
        checkpoint.path, fmt::join(kRoots, ", "),
        top.is(Kind::kDict) ? fmt::format("{}", fmt::join(key_list(top, 20), ", "))
                            : "none (it is no dict)");
  }
  take_state_dict(pickle, *model, budget, checkpoint);
  for (std::size_t i = 0; i + 1 < top.items.size(); i += 2) {
    const std::string key = key_text(*top.items[i]);
    if (top.items[i + 1] == model) continue;
    checkpoint.metadata[key] = summarise(pickle, key, *top.items[i + 1], budget);
  }
}

// Things that people have instead of a checkpoint.
void refuse_lookalikes(std::string_view start, const std::filesystem::path& path) {
  if (start.empty()) throw DataError("{}: is empty; fetch it again", path);
  if (start.starts_with("version https://git-lfs")) {
    throw DataError("{}: is a Git LFS pointer, not the file itself; run 'git lfs pull'", path);
  }
  if (start.starts_with("<") || start.starts_with("\n<")) {
    throw DataError(
        "{}: is a web page, not a checkpoint; the download link did not lead to the file", path);
  }
  if (start.starts_with("\x89HDF")) {
    throw DataError("{}: is an HDF5 file; only safetensors and torch.save files can be read", path);
  }
}

bool looks_like_safetensors(ByteSpan bytes) { return bytes.size() > 8 && bytes[8] == '{'; }

bool looks_like_torch(ByteSpan bytes) {
  const auto starts = [&](std::string_view text) {
    return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
  };
  const bool tar = bytes.size() > 512 && std::memcmp(bytes.data() + 257, "ustar", 5) == 0;
  return tar || starts("PK\x03\x04") || starts("\x80");
}

}  // namespace

Checkpoint parse_checkpoint(ByteSpan bytes, const std::shared_ptr<const void>& owner,
                            const std::filesystem::path& path, const OpenOptions& options) {
  Checkpoint checkpoint;
  checkpoint.path = path;
  if (looks_like_safetensors(bytes)) {
    Safetensors content = parse_safetensors(bytes, owner, path.string());
    checkpoint.format = "safetensors";
    checkpoint.tensors = std::move(content.tensors);
    checkpoint.metadata = content.metadata;
    return checkpoint;
  }
  const auto start = bytes.first(std::min<std::size_t>(bytes.size(), 64));
  refuse_lookalikes({reinterpret_cast<const char*>(start.data()), start.size()}, path);
  if (!looks_like_torch(bytes)) {
    throw DataError("{}: is no checkpoint: neither safetensors nor a file of torch.save", path);
  }
  const TorchFile file = parse_torch_file(bytes, owner, path.string(), options.verify);
  checkpoint.format = file.format;
  checkpoint.foreign.assign(file.pickle->foreign.begin(), file.pickle->foreign.end());
  if (file.script) {
    PickleBudget budget;
    take_script(*file.pickle, *file.pickle->root, "", 0, budget, checkpoint);
  } else {
    pick_tensors(*file.pickle, checkpoint);
  }
  return checkpoint;
}

Checkpoint open_checkpoint(const std::filesystem::path& path, const OpenOptions& options) {
  auto file = std::make_shared<const MappedFile>(path);
  return parse_checkpoint(file->bytes(), file, path, options);
}

}  // namespace addp
