#include "checkpoint/format/safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/json_text.h"
#include "checkpoint/format/byte_reader.h"
#include "checkpoint/format/safetensors_header.h"
#include "checkpoint/format/tensor_cast.h"

namespace addp {
namespace {

constexpr std::uint64_t kMaxHeader = 100'000'000;  // the limit of the reference implementation

// The format wants the tensors to fill the data exactly: no overlap, no hole, no rest.
void check_layout(const std::vector<SafetensorsEntry>& entries, std::uint64_t size,
                  const std::string& name) {
  std::vector<const SafetensorsEntry*> order;
  order.reserve(entries.size());
  for (const SafetensorsEntry& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  std::uint64_t expected = 0;
  for (const SafetensorsEntry* entry : order) {
    if (entry->begin != expected) {
      throw DataError(
          "{}: tensor '{}' starts at byte {} of the data where {} was due; the header is wrong, "
          "fetch the file again",
          name, entry->name, entry->begin, expected);
    }
    expected = entry->end;
  }
  if (expected != size) {
    throw DataError(
        "{}: the header describes {} bytes of tensors, the file holds {}; it is cut off or "
        "damaged, fetch it again",
        name, expected, size);
  }
}

TensorView make_view(const SafetensorsEntry& entry, ByteSpan data,
                     const std::shared_ptr<const void>& owner, const std::string& name) {
  const auto type = dtype_from_name(entry.dtype);
  if (!type) {
    throw DataError(
        "{}: tensor '{}' has the type '{}', which is not supported; save it as F32, F16 or BF16",
        name, entry.name, entry.dtype);
  }
  if (entry.begin > entry.end || entry.end > data.size()) {
    throw DataError(
        "{}: tensor '{}' claims bytes {} to {} of {}; the file is cut off or damaged, "
        "fetch it again",
        name, entry.name, entry.begin, entry.end, data.size());
  }
  const auto count = checked_numel(entry.shape);
  const std::uint64_t size = entry.end - entry.begin;
  if (!count || static_cast<std::uint64_t>(*count) != size / dtype_size(*type) ||
      size % dtype_size(*type) != 0) {
    throw DataError(
        "{}: tensor '{}' of shape {} and type {} cannot have {} bytes; the header is wrong, fetch "
        "the file again",
        name, entry.name, shape_text(entry.shape), entry.dtype, size);
  }
  TensorView view;
  view.dtype = *type;
  view.shape = entry.shape;
  view.strides = contiguous_strides(entry.shape);
  view.bytes = data.subspan(entry.begin, size);
  view.owner = owner;
  return view;
}

}  // namespace

Safetensors parse_safetensors(ByteSpan bytes, std::shared_ptr<const void> owner,
                              const std::string& name) {
  ByteReader reader(bytes, name);
  if (bytes.size() < 8) throw DataError("{}: too short for a safetensors file", name);
  const auto length = reader.take_little<std::uint64_t>();
  if (length > kMaxHeader || length > reader.remaining()) {
    throw DataError(
        "{}: claims a safetensors header of {} bytes, {} are left (at most {} are allowed); it is "
        "cut off, damaged or something else",
        name, length, reader.remaining(), kMaxHeader);
  }
  SafetensorsHeader header = parse_safetensors_header(reader.take_text(length), name);
  const ByteSpan data = reader.take(reader.remaining());
  Safetensors result;
  for (const SafetensorsEntry& entry : header.entries) {
    if (!result.tensors.emplace(entry.name, make_view(entry, data, owner, name)).second) {
      throw DataError("{}: the header names tensor '{}' twice", name, entry.name);
    }
  }
  check_layout(header.entries, data.size(), name);
  result.metadata = std::move(header.metadata);
  return result;
}

Safetensors read_safetensors(const std::filesystem::path& path) {
  auto file = std::make_shared<const MappedFile>(path);
  return parse_safetensors(file->bytes(), file, path.string());
}

void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                       const std::map<std::string, std::string>& metadata,
                       std::optional<DType> floating) {
  const auto size_of = [&](const TensorView& tensor) {
    return dtype_size(type_after_cast(tensor, floating));
  };
  std::vector<const TensorMap::value_type*> order;
  for (const auto& item : tensors) order.push_back(&item);
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
    return size_of(a->second) > size_of(b->second);
  });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t offset = 0;
  for (const auto* item : order) {
    if (item->first == "__metadata__") throw UsageError("no tensor may be called __metadata__");
    const TensorView& tensor = item->second;
    const std::uint64_t end = offset + static_cast<std::uint64_t>(tensor.numel()) * size_of(tensor);
    header[item->first] = {{"dtype", dtype_name(type_after_cast(tensor, floating))},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text;
  try {
    text = json_text(header);
  } catch (const nlohmann::json::exception&) {
    throw DataError("{}: a tensor's name or the metadata is not UTF-8 text; rename it first", path);
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  AtomicFile file(path);
  const std::uint64_t length = text.size();
  file.write(ByteSpan(reinterpret_cast<const std::uint8_t*>(&length), sizeof(length)));
  file.write(text);
  for (const auto* item : order) {
    with_cast_bytes(item->second, floating, [&](ByteSpan bytes) { file.write(bytes); });
  }
  file.commit();
}

}  // namespace addp
